/** The table of all values: as it is shown, and as it is exported. */

import type { Shown } from "./asking.ts";
import { h } from "./dom.ts";
import { decimals, people, percent, plusMinus, type Sheet } from "./format.ts";
import { absent } from "./histogram.ts";
import { Table, type Column } from "./table.ts";
import type { View } from "./view.ts";

export function columnsOf({ answers, names, difference }: Shown): Column[] {
  const { label } = answers[0]!.columns;
  const columns: Column[] = [{ title: "value", sorts: "label", words: true, cell: (place) => label[place]! }];
  if (difference) {
    const found = new Map(difference.found.values.map((each) => [each.name, each]));
    columns.push({
      title: `${difference.names[0]} minus ${difference.names[1]}`,
      cell: (place) => {
        const each = found.get(label[place]!);
        if (!each) return "";
        const sure = each.low > 0 || each.high < 0;
        return `${plusMinus(each.value, each.std_error)}${sure ? " *" : ""}`;
      },
    });
  }
  answers.forEach(({ n, columns: each }, i) => {
    const of = names[i] ? `${names[i]}: ` : "";
    const places = (place: number): number => decimals(each.std_error[place]!);
    const faint = (place: number): boolean => absent(each, place);
    columns.push(
      { title: `${of}share`, ...(i === 0 ? { sorts: "frequency" as const } : {}), faint, cell: (place) => plusMinus(each.frequency[place]!, each.std_error[place]!) },
      { title: `${of}interval`, faint, cell: (place) => `${percent(each.low[place]!, places(place))} to ${percent(each.high[place]!, places(place))}` },
    );
    if (answers.length === 1) columns.push({ title: "people", faint, cell: (place) => people(each.users[place]!, n * each.std_error[place]!) });
  });
  return columns;
}

/** All columns of all groups, as numbers. */
export function sheetOf({ answers, names }: Shown, order: readonly number[]): Sheet {
  const heads = ["label"];
  answers.forEach((_, i) => {
    for (const each of ["frequency", "std_error", "low", "high", "users"]) heads.push(names[i] ? `${names[i]} ${each}` : each);
  });
  const rows = order.map((place) => [
    answers[0]!.columns.label[place]!,
    ...answers.flatMap(({ columns: { frequency, std_error, low, high, users } }) => [frequency[place]!, std_error[place]!, low[place]!, high[place]!, users[place]!]),
  ]);
  return { heads, rows };
}

export class Values {
  private readonly table: Table;
  private readonly remark = h("p", { class: "quiet small" });
  readonly element: HTMLElement;

  constructor(private readonly view: View, again: () => void) {
    this.table = new Table("All values with their errors", (by) => {
      view.sort = by;
      again();
    });
    this.element = h("section", { class: "sheet", "aria-label": "Table" }, h("h2", {}, "All values"), this.table.element, this.remark);
  }

  show(shown: Shown, order: readonly number[]): void {
    this.table.show(columnsOf(shown), order, this.view.sort);
    this.remark.textContent = "± is one standard error. Grey: the interval contains zero, so the value may not occur at all."
      + (shown.difference ? " *: the interval of the difference excludes zero." : "");
  }
}
