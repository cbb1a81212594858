/** A table of any length: only the rows in view are in the page. */

import { h, replace } from "./dom.ts";

export interface Column {
  readonly name: string;
  readonly title: string;
  readonly cell: (place: number) => string;
}

const HEIGHT = 34;

export class Table {
  readonly element: HTMLDivElement;
  private readonly body = h("tbody");
  private places: readonly number[] = [];
  private columns: readonly Column[] = [];
  private faint: (place: number) => boolean = () => false;
  private readonly head = h("thead");
  private readonly table = h("table", {}, this.head, this.body);

  constructor(label: string, private readonly sort: (column: string) => void) {
    this.element = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label, onscroll: () => this.draw() }, this.table);
  }

  show(columns: readonly Column[], places: readonly number[], sorted: string, faint: (place: number) => boolean): void {
    [this.columns, this.places, this.faint] = [columns, places, faint];
    replace(
      this.head,
      h("tr", {}, columns.map((column) => h(
        "th",
        { scope: "col", "aria-sort": column.name === sorted ? "descending" : undefined },
        h("button", { type: "button", onclick: () => this.sort(column.name) }, column.title, column.name === sorted ? " ▾" : ""),
      ))),
    );
    this.table.setAttribute("aria-rowcount", String(places.length + 1));
    this.draw();
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
        { "aria-rowindex": first + at + 2, class: this.faint(place) ? "absent" : undefined },
        this.columns.map((column, number) => (number === 0 ? h("th", { scope: "row" }, column.cell(place)) : h("td", {}, column.cell(place)))),
      ),
    );
    replace(this.body, filler(first), rows, filler(places.length - last));
  }
}
