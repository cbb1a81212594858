/** Takes what is shown along: copied, or as a file. */

import { download } from "./api.ts";
import type { Shown } from "./collection.ts";
import { h, say } from "./dom.ts";
import { csv, save } from "./format.ts";
import { savePng, saveSvg } from "./picture.ts";
import { question } from "./view.ts";

function table({ answers, names }: Shown, order: readonly number[]): string {
  const heads = ["label"];
  answers.forEach((_, i) => {
    for (const each of ["frequency", "std_error", "low", "high", "users"]) heads.push(names[i] ? `${names[i]} ${each}` : each);
  });
  const rows = order.map((place) => [
    answers[0]!.columns.label[place]!,
    ...answers.flatMap(({ columns: { frequency, std_error, low, high, users } }) => [frequency[place]!, std_error[place]!, low[place]!, high[place]!, users[place]!]),
  ]);
  return csv(heads, rows);
}

export function exports(shown: Shown, order: readonly number[], picture: SVGSVGElement): HTMLElement {
  const name = shown.collection.name;
  const button = (text: string, does: () => unknown): HTMLButtonElement =>
    h("button", {
      type: "button",
      class: "plain",
      onclick: () => {
        Promise.resolve(does()).catch((error: unknown) => say(error instanceof Error ? error.message : String(error)));
      },
    }, text);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(table(shown, order).replaceAll(",", "\t"));
    say("The table is copied");
  };
  const arrow = async (): Promise<void> => {
    const response = await download(name, "estimate", { ...question(shown.view), format: "arrow" });
    save(`${name}.arrow`, await response.blob());
  };
  return h(
    "div",
    { class: "row", role: "group", "aria-label": "Take along" },
    button("Copy", copy),
    button("CSV", () => save(`${name}.csv`, new Blob([table(shown, order)], { type: "text/csv" }))),
    shown.answers.length === 1 && button("Arrow", arrow),
    button("PNG", () => savePng(picture, name)),
    button("SVG", () => saveSvg(picture, name)),
  );
}
