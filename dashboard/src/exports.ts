/** Copies what is shown, or saves it as a file. */

import { h, say } from "./dom.ts";
import { csv, save, tsv, type Sheet } from "./format.ts";
import { sentence } from "./lacks.ts";
import { savePng, saveSvg, type Plate } from "./picture.ts";

type Kind = readonly [name: string, does: () => unknown];

/** Buttons for a table, for the picture of it if there is one, and for other kinds of file. */
export function exportBar(name: string, sheet: () => Sheet, plate: Plate | null = null, more: readonly Kind[] = []): HTMLElement {
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(tsv(sheet()));
    say("The table is copied");
  };
  const kinds: Kind[] = [["Copy", copy], ["CSV", () => save(`${name}.csv`, new Blob([csv(sheet())], { type: "text/csv" }))], ...more];
  if (plate) kinds.push(["PNG", () => savePng(plate, name)], ["SVG", () => saveSvg(plate, name)]);
  return h("div", { class: "tools", role: "group", "aria-label": "Export" }, kinds.map(([text, does]) =>
    h("button", {
      type: "button",
      onclick: () => {
        Promise.resolve().then(does).catch((error: unknown) => say(sentence(error)));
      },
    }, text)));
}
