/** The table of all values, and the choice of those whose trend is drawn. */

import type { Shown } from "./collection.ts";
import { h } from "./dom.ts";
import { decimals, percent, plusMinus, whole } from "./format.ts";
import { absent } from "./histogram.ts";
import { Table, type Column } from "./table.ts";

export function columnsOf({ answers, names, difference }: Shown): Column[] {
  const { label } = answers[0]!.columns;
  const columns: Column[] = [{ name: "label", title: "value", cell: (place) => label[place]! }];
  answers.forEach(({ columns: each }, i) => {
    const of = names[i] ? `${names[i]}: ` : "";
    const places = (place: number): number => decimals(each.std_error[place]!);
    columns.push(
      { name: i === 0 ? "frequency" : `share-${i}`, title: `${of}share`, cell: (place) => plusMinus(each.frequency[place]!, each.std_error[place]!) },
      { name: `interval-${i}`, title: `${of}interval`, cell: (place) => `${percent(each.low[place]!, places(place))} to ${percent(each.high[place]!, places(place))}` },
    );
    if (answers.length === 1) columns.push({ name: "users", title: "people", cell: (place) => whole(each.users[place]!) });
  });
  if (difference) {
    const found = new Map(difference.values.map((each) => [each.name, each]));
    columns.push({
      name: "difference",
      title: `${names[0]} minus ${names[1]}`,
      cell: (place) => {
        const each = found.get(label[place]!);
        if (!each) return "";
        const sure = each.low > 0 || each.high < 0;
        return `${plusMinus(each.value, each.std_error)}${sure ? " *" : ""}`;
      },
    });
  }
  return columns;
}

export function valuesTable(shown: Shown, order: readonly number[], again: () => void): HTMLElement {
  const { view, answers } = shown;
  const table = new Table("All values with their errors", (column) => {
    view.sort = column === "label" ? "label" : "frequency";
    again();
  });
  const group = { name: "", ...answers[0]!.columns };
  table.show(columnsOf(shown), order, view.sort === "label" ? "label" : view.sort === "frequency" ? "frequency" : "", (place) => absent(group, place));
  return h(
    "section",
    { class: "sheet", "aria-label": "Table" },
    h("h2", {}, "All values"),
    table.element,
    h("p", { class: "quiet small" }, "± is one standard error. Grey: the interval contains zero, so the value may not occur at all.", shown.difference ? " *: the interval of the difference excludes zero." : ""),
  );
}
