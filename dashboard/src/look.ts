/** An answer as people look at it: the histogram, the table of all values, and the trend of some. */

import { download, type Collection } from "./api.ts";
import type { Shown } from "./asking.ts";
import { h, replace, say } from "./dom.ts";
import { exportBar } from "./exports.ts";
import { plural, save } from "./format.ts";
import { barSample, histogram } from "./histogram.ts";
import { alike, described, remarks, title } from "./remarks.ts";
import { Trends } from "./trends.ts";
import { sheetOf, Values } from "./values.ts";
import { places, question, type View } from "./view.ts";

export class Look {
  private readonly figure = h("section", { class: "sheet", "aria-label": "Histogram" });
  private readonly values: Values;
  private readonly trends: Trends;
  private readonly element: HTMLElement;

  /** `sorted` is called when the table is sorted, `picked` when other values are picked for the trend. */
  constructor(private readonly target: HTMLElement, collection: Collection, view: View, sorted: () => void, picked: () => void) {
    this.values = new Values(view, sorted);
    this.trends = new Trends(collection, view, picked);
    this.element = h("div", { class: "stack" }, this.figure, this.values.element, collection.buckets.length > 1 && this.trends.element);
  }

  show(shown: Shown): void {
    if (!this.element.isConnected) replace(this.target, this.element);
    const labels = shown.answers[0]!.columns.label;
    const order = places(shown.view, labels, shown.answers[0]!.columns.frequency);
    this.draw(shown, order);
    this.values.show(shown, order);
    this.trends.show(labels, shown.answers[0]!.columns.frequency);
    say(order.length ? `${plural(order.length, "value")} shown` : "Nothing found", true);
  }

  /** Draws the trend anew in the colours of the theme. */
  recolour(): void {
    this.trends.recolour();
  }

  private draw(shown: Shown, order: readonly number[]): void {
    const { view, answers, names, collection } = shown;
    const legend = names.length > 1 ? names.map((name, i) => `${name} (${plural(answers[i]!.n, "report")})`) : [];
    const picture = order.length === 0 ? null : histogram({
      labels: answers[0]!.columns.label,
      groups: answers.map((answer, i) => ({ name: names[i]!, ...answer.columns })),
      places: order.slice(0, view.top),
      log: view.log,
      width: Math.max(300, Math.min(860, this.target.clientWidth - 42)),
      title: described(shown, order),
    });
    const arrow = async (): Promise<void> => {
      const response = await download(collection.name, "estimate", { ...question(view), format: "arrow" });
      save(`${collection.name}.arrow`, await response.blob());
    };
    replace(
      this.figure,
      h("div", { class: "row between" }, h("h2", {}, title(shown)),
        picture && exportBar(collection.name, () => sheetOf(shown, order), { picture, names: legend, sample: barSample }, answers.length === 1 ? [["Arrow", arrow]] : [])),
      legend.length > 0 && h("ul", { class: "legend" }, legend.map((text, i) => h("li", {}, h("span", { class: `swatch g${i}` }), text))),
      picture ? h("div", { class: "figure" }, picture) : h("p", { class: "quiet" }, `No value contains “${view.search}”.`),
      h("p", { class: "quiet small" }, remarks(shown, order.length)),
      shown.difference?.found.alike && h("p", { class: "small" }, alike(shown)),
    );
  }
}
