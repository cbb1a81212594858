/** What is said of an answer beside its picture. */

import type { Answer } from "./api.ts";
import type { Shown } from "./asking.ts";
import { decimals, methodName, percent, plural, whole } from "./format.ts";

export function title({ answers }: Shown): string {
  const answer = answers[0]!;
  return `${answers.length > 1 ? "Groups side by side" : plural(answer.n, "report")}, ${methodName(answer.method)}${answer.simulated ? ", simulated" : ""}`;
}

export function described({ answers, collection }: Shown, order: readonly number[]): string {
  const { label, frequency, std_error } = answers[0]!.columns;
  const first = order.slice(0, 3).map((place) => `${label[place]} ${percent(frequency[place]!, decimals(std_error[place]!))}`);
  return `Histogram of ${collection.name}: ${first.join(", ")}. The table below has all numbers.`;
}

export function remarks({ answers, names, lacking, view }: Shown, found: number): string {
  const [answer] = answers as [Answer];
  const hidden = found > view.top ? `The ${view.top} first of ${whole(found)} values are drawn. ` : "";
  const promise = answer.simultaneous
    ? `The ${100 * Number(view.level)}% intervals hold for all values at once, so also for those at the top.`
    : `Each ${100 * Number(view.level)}% interval holds for a value named beforehand, not for those at the top.`;
  const least = answers.map(({ visible_from: from }, i) => `${percent(from, decimals(from / 4))}${names[i] ? ` (${names[i]})` : ""}`);
  const few = lacking.length ? ` Too few reports to be shown: ${lacking.join(", ")}.` : "";
  const withheld = answers.reduce((sum, each) => sum + each.withheld, 0);
  const waiting = withheld ? ` ${plural(withheld, "report")} wait until there are enough to be published.` : "";
  return `${hidden}${promise} Nothing below about ${least.join(", ")} stands out from zero; such values are drawn with broken lines.${few}${waiting}`;
}

export function alike({ difference }: Shown): string {
  const [first, second] = difference!.names;
  const { p_value: p, rate, differ } = difference!.found.alike!;
  const chance = p < 1e-4 ? "below 0.0001" : p.toPrecision(2);
  return differ
    ? `${first} and ${second} differ (p ${chance}, tested at ${rate}).`
    : `No difference between ${first} and ${second} can be shown (p ${chance}, tested at ${rate}).`;
}
