/** A table of any length: only the rows in view are in the page. */

import { h, replace } from "./dom.ts";

export interface Column {
  readonly title: string;
  readonly cell: (place: number) => string;
  readonly sorts?: "label" | "frequency"; // by which it can be sorted: names upwards, shares downwards
  readonly words?: boolean; // text, and not a number
  readonly faint?: (place: number) => boolean; // whether it is grey
}

const HEIGHT = 34;

export class Table {
  readonly element: HTMLDivElement;
  private readonly body = h("tbody");
  private places: readonly number[] = [];
  private columns: readonly Column[] = [];
  private readonly head = h("thead");
  private readonly table = h("table", {}, this.head, this.body);

  constructor(label: string, private readonly sort: (by: "label" | "frequency") => void) {
    this.element = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label, onscroll: () => this.draw() }, this.table);
  }

  show(columns: readonly Column[], places: readonly number[], sorted: string): void {
    [this.columns, this.places] = [columns, places];
    const focused = this.head.contains(document.activeElement) ? document.activeElement?.getAttribute("data-sorts") : null;
    replace(this.head, h("tr", {}, columns.map((column) => this.heading(column, sorted))));
    if (focused) this.head.querySelector<HTMLElement>(`[data-sorts="${focused}"]`)?.focus();
    this.table.setAttribute("aria-rowcount", String(places.length + 1));
    this.draw();
  }

  private heading({ title, sorts, words }: Column, sorted: string): HTMLElement {
    const rising = sorts === "label";
    const order = sorts === sorted && sorts ? (rising ? "ascending" : "descending") : undefined;
    const arrow = order && h("span", { "aria-hidden": "true" }, rising ? " ▴" : " ▾");
    const content = sorts ? h("button", { type: "button", "data-sorts": sorts, onclick: () => this.sort(sorts) }, title, arrow) : title;
    return h("th", { scope: "col", "aria-sort": order, class: words ? "words" : undefined }, content);
  }

  private draw(): void {
    const { places } = this;
    const first = Math.max(0, Math.floor(this.element.scrollTop / HEIGHT) - 10);
    const last = Math.min(places.length, first + 40);
    const filler = (rows: number): HTMLElement[] => {
      if (rows <= 0) return [];
      const cell = h("td", { colspan: this.columns.length, "aria-hidden": "true" });
      cell.style.height = `${rows * HEIGHT}px`;
      cell.style.padding = "0";
      return [h("tr", {}, cell)];
    };
    const rows = places.slice(first, last).map((place, at) =>
      h(
        "tr",
        { "aria-rowindex": first + at + 2 },
        this.columns.map(({ cell, words, faint }, number) =>
          number === 0 ? h("th", { scope: "row", title: cell(place) }, cell(place)) : h("td", { class: words ? "words" : faint?.(place) ? "absent" : undefined }, cell(place))),
      ),
    );
    replace(this.body, filler(first), rows, filler(places.length - last));
  }
}
