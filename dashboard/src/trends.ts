/** How the shares of a few values went over time. */

import { trend } from "./api.ts";
import type { Shown } from "./collection.ts";
import { h, replace } from "./dom.ts";
import { decimals, percent } from "./format.ts";
import { trend as draw, type Line } from "./lines.ts";
import { question } from "./view.ts";

const MOST = 4;

export function trends(shown: Shown, again: () => void): HTMLElement | null {
  const { collection, view, answers } = shown;
  if (collection.buckets.length < 2) return null;
  const labels = answers[0]!.columns.label;
  const usual = labels.length ? [labels[answers[0]!.columns.frequency.indexOf(Math.max(...answers[0]!.columns.frequency.slice(0, 30_000)))]!] : [];
  const picked = view.picked.filter((label) => labels.includes(label));
  const chosen = picked.length ? picked : usual;
  const figure = h("div", { class: "figure" }, h("p", { class: "quiet" }, "Loading…"));
  const list = h("datalist", { id: "labels" }, labels.slice(0, 500).map((label) => h("option", { value: label })));
  const input = h("input", { list: "labels", "aria-label": "A value to add to the trend", placeholder: "add a value" });
  const pickOne = (): void => {
    if (!labels.includes(input.value) || chosen.includes(input.value)) return;
    view.picked = [...chosen, input.value].slice(-MOST);
    again();
  };
  input.addEventListener("change", pickOne);
  const legend = h(
    "ul",
    { class: "legend" },
    chosen.map((label, i) =>
      h("li", {}, h("span", { class: `swatch g${i}` }), label, " ", h("button", {
        type: "button",
        class: "plain",
        "aria-label": `Take ${label} out of the trend`,
        onclick: () => {
          view.picked = chosen.filter((each) => each !== label);
          again();
        },
      }, "×"))),
  );
  void fill(shown, chosen, figure);
  return h("section", { class: "sheet", "aria-label": "Trend" }, h("div", { class: "row between" }, h("h2", {}, "Over time"), h("div", {}, input, list)), legend, figure);
}

async function fill({ collection, view }: Shown, chosen: readonly string[], figure: HTMLElement): Promise<void> {
  try {
    const { simultaneous: _, ...asked } = question(view);
    const found = await Promise.all(chosen.map((value) => trend(collection.name, { ...asked, value })));
    const times = found[0]!.buckets.map((each) => each.time);
    const lines: Line[] = found.map(({ label, buckets }) => ({
      label,
      frequency: buckets.map((each) => each.frequency),
      low: buckets.map((each) => each.low),
      high: buckets.map((each) => each.high),
    }));
    const text = (share: number | null, high: number | null, low: number | null): string =>
      share === null || high === null || low === null ? "too few" : percent(share, decimals((high - low) / 4));
    replace(
      figure,
      draw(times, lines, Math.max(300, Math.min(860, figure.clientWidth || 600))),
      h("details", {}, h("summary", { class: "quiet small" }, "The numbers"),
        h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "time"), lines.map(({ label }) => h("th", { scope: "col" }, label)))),
          h("tbody", {}, times.map((time, i) => h("tr", {}, h("th", { scope: "row" }, time), lines.map((line) => h("td", {}, text(line.frequency[i]!, line.high[i]!, line.low[i]!)))))))),
    );
  } catch (error) {
    replace(figure, h("p", { class: "notice" }, error instanceof Error ? error.message : String(error)));
  }
}
