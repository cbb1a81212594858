/** How the shares of a few values went over time. The collector is asked only if other values or other times are. */

import { trend, type Collection, type Moment } from "./api.ts";
import { h, replace } from "./dom.ts";
import { exportBar } from "./exports.ts";
import { decimals, percent, type Sheet } from "./format.ts";
import { notice } from "./lacks.ts";
import { lineSample, trend as draw } from "./lines.ts";
import { hoursOf } from "./times.ts";
import { question, type View } from "./view.ts";

const MOST = 4;
const MOST_SUGGESTED = 500;
const SPANS: Record<string, string> = { hour: "an hour", day: "a day", week: "a week" };

interface Course {
  label: string;
  buckets: Moment[];
}

export class Trends {
  readonly element: HTMLElement;
  private readonly figure = h("div", { class: "figure" }, h("p", { class: "quiet" }, "Loading…"));
  private readonly legend = h("ul", { class: "legend" });
  private readonly list = h("datalist", { id: "labels" });
  private readonly input = h("input", { list: "labels", "aria-label": "A value to add to the trend", placeholder: "add a value", onchange: () => this.add() });
  private readonly tools = h("div");
  private labels: readonly string[] = [];
  private usual: string[] = [];
  private asked = "";
  private latest = 0;
  private found: Course[] | null = null;

  constructor(private readonly collection: Collection, private readonly view: View, private readonly changed: () => void) {
    this.element = h("section", { class: "sheet", "aria-label": "Trend" },
      h("div", { class: "row between" }, h("h2", {}, "Over time"), h("div", { class: "row" }, this.tools, this.input, this.list)), this.legend, this.figure);
  }

  /** Shows the values that are picked, or the most frequent one. */
  show(labels: readonly string[], frequency: readonly number[]): void {
    if (labels.length !== this.labels.length || labels[0] !== this.labels[0])
      replace(this.list, labels.slice(0, MOST_SUGGESTED).map((label) => h("option", { value: label })));
    this.labels = labels;
    let top = 0;
    frequency.forEach((share, place) => { if (share > frequency[top]!) top = place; });
    this.usual = labels.length ? [labels[top]!] : [];
    this.update();
  }

  recolour(): void {
    if (this.found) this.draw(this.found);
  }

  private chosen(): string[] {
    const picked = this.view.picked.filter((label) => this.labels.includes(label));
    return picked.length ? picked : this.usual;
  }

  private add(): void {
    const { value } = this.input;
    if (!this.labels.includes(value) || this.chosen().includes(value)) return;
    this.input.value = "";
    this.pick([...this.chosen(), value].slice(-MOST));
  }

  private pick(labels: string[]): void {
    this.view.picked = labels;
    this.changed();
    this.update();
  }

  private update(): void {
    const chosen = this.chosen();
    const { simultaneous: _, ...asked } = question(this.view);
    const wanted = JSON.stringify([asked, chosen]);
    if (this.collection.buckets.length < 2 || wanted === this.asked) return;
    this.asked = wanted;
    replace(this.legend, chosen.map((label, i) => h("li", {}, h("span", { class: `swatch g${i}` }), label, " ",
      h("button", {
        type: "button",
        class: "plain",
        "aria-label": `Take ${label} out of the trend`,
        onclick: () => {
          this.pick(chosen.filter((each) => each !== label));
          this.input.focus();
        },
      }, "×"))));
    void this.fill(chosen, asked, ++this.latest);
  }

  private async fill(chosen: readonly string[], asked: Record<string, string | boolean>, mine: number): Promise<void> {
    try {
      const found = await Promise.all(chosen.map((value) => trend(this.collection.name, { ...asked, value })));
      if (mine !== this.latest) return;
      this.found = found;
      this.draw(found);
    } catch (error) {
      if (mine !== this.latest) return;
      [this.found, this.asked] = [null, ""];
      replace(this.tools);
      replace(this.figure, notice(error));
    }
  }

  private draw(found: readonly Course[]): void {
    const unit = this.collection.settings.bucket;
    const picture = draw(found, hoursOf(unit), Math.max(300, Math.min(860, this.figure.clientWidth || 600)));
    const text = ({ frequency, low, high }: Moment): string =>
      frequency === null || high === null || low === null ? "too few" : percent(frequency, decimals((high - low) / 4));
    const moments = found[0]?.buckets ?? [];
    replace(this.tools, exportBar(`${this.collection.name}-trend`, () => sheetOf(found), { picture, names: found.map(({ label }) => label), sample: lineSample }));
    replace(
      this.figure,
      picture,
      h("p", { class: "quiet small" }, `Bands are ${100 * Number(this.view.level)}% intervals, each for one value in ${SPANS[unit] ?? "a bucket of time"} by itself. Where there is no band, there were too few reports.`),
      h("details", {}, h("summary", { class: "quiet small" }, "The numbers"),
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The numbers of the trend" },
          h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "time"), found.map(({ label }) => h("th", { scope: "col" }, label)))),
            h("tbody", {}, moments.map(({ time }, i) => h("tr", {}, h("th", { scope: "row" }, time), found.map(({ buckets }) => h("td", {}, text(buckets[i]!))))))))),
    );
  }
}

function sheetOf(found: readonly Course[]): Sheet {
  const heads = ["time", ...found.flatMap(({ label }) => [`${label} frequency`, `${label} low`, `${label} high`])];
  const rows = (found[0]?.buckets ?? []).map(({ time }, i) => [time, ...found.flatMap(({ buckets }) => {
    const { frequency, low, high } = buckets[i]!;
    return [frequency ?? "", low ?? "", high ?? ""];
  })]);
  return { heads, rows };
}
