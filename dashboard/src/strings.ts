/** Collections whose values nobody listed: candidates to look for, or the frequent strings. */

import { candidates, hitters, type Collection, type Row } from "./api.ts";
import { h, replace } from "./dom.ts";
import { exportBar } from "./exports.ts";
import { decimals, linesOf, people, percent, plural, plusMinus, whole, type Sheet } from "./format.ts";
import { notice } from "./lacks.ts";

const sheetOf = (rows: readonly Row[]): Sheet => ({
  heads: ["string", "frequency", "std_error", "low", "high", "users"],
  rows: rows.map(({ label, frequency, std_error, low, high, users }) => [label, frequency, std_error, low, high, users]),
});

/** The strings found in n reports. */
function table(rows: readonly Row[], n: number): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Strings found" },
    h("table", {},
      h("thead", {}, h("tr", {}, ["string", "share", "interval", "people"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows.map((row) => {
        const places = decimals(row.std_error);
        return h("tr", {}, h("th", { scope: "row" }, row.label), h("td", {}, plusMinus(row.frequency, row.std_error)),
          h("td", {}, `${percent(row.low, places)} to ${percent(row.high, places)}`), h("td", {}, people(row.users, n * row.std_error)));
      })),
    ),
  );
}

export async function strings(target: HTMLElement, collection: Collection): Promise<void> {
  if (collection.specs[0]!.kind === "heavy-hitters") return frequent(target, collection);
  const text = h("textarea", { rows: "8", placeholder: "one string per line" });
  const found = h("div");
  let latest = 0;
  const look = async (): Promise<void> => {
    const mine = ++latest;
    const wanted = linesOf(text.value);
    if (!wanted.length) return text.focus();
    replace(found, h("p", { class: "quiet" }, `Looking for ${plural(wanted.length, "string")}…`));
    try {
      const answer = await candidates(collection.name, { candidates: wanted });
      if (mine !== latest) return;
      const rows = [...answer.present, ...(answer.unlisted ? [answer.unlisted] : [])];
      replace(
        found,
        exportBar(`${collection.name}-strings`, () => sheetOf(rows)),
        h("p", {}, `${plural(answer.present.length, "string")} of ${whole(wanted.length)} found in ${plural(answer.n, "report")}. ${answer.promise}`),
        table(rows, answer.n),
      );
    } catch (error) {
      if (mine !== latest) return;
      replace(found, notice(error));
    }
  };
  replace(
    target,
    h("section", { class: "sheet stack", "aria-label": "Candidates" }, h("h2", {}, "Which of these strings are there?"),
      h("label", { class: "field" }, "Candidates, one per line", text), h("div", {}, h("button", { type: "button", class: "main", onclick: () => void look() }, "Look for them")), found),
  );
}

async function frequent(target: HTMLElement, collection: Collection): Promise<void> {
  replace(target, h("p", { class: "quiet" }, "Searching…"));
  try {
    const answer = await hitters(collection.name, {});
    replace(target, h("section", { class: "sheet", "aria-label": "Frequent strings" }, 
      h("div", { class: "row between" }, h("h2", {}, `${plural(answer.strings.length, "frequent string")} in ${plural(answer.n, "report")}`), exportBar(`${collection.name}-strings`, () => sheetOf(answer.strings))),
      table(answer.strings, answer.n), h("p", { class: "quiet small" }, `${answer.promise} ${answer.missed}`)));
  } catch (error) {
    replace(target, notice(error));
  }
}
