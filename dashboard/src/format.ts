/** Numbers as people read them: no more digits than the error allows. */

export const whole = (number: number): string => Math.round(number).toLocaleString("en");

/** Decimals of a percentage whose standard error is given: the error shows two significant digits, at most. */
export function decimals(error: number): number {
  if (!(error > 0)) return 1;
  return Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(100 * error) + 1e-9)));
}

export function percent(share: number, places: number): string {
  const text = (100 * share).toFixed(places);
  return `${Number(text) === 0 ? (0).toFixed(places) : text}%`.replace("-", "\u2212");
}

export function plusMinus(share: number, error: number): string {
  const places = decimals(error);
  return `${percent(share, places)} ± ${(100 * error).toFixed(places)}`;
}

/** A number of people, to the second digit of its standard error: the digits of its share. */
export function people(number: number, error: number): string {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, error)) + 1e-9) - 1);
  return whole(step * Math.round(number / step) + 0);
}

/** A number with this many significant digits, and no exponent. */
export function significant(number: number, digits: number): string {
  if (!Number.isFinite(number)) return String(number);
  return Number(number.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 12 });
}

/** A bound as people read it: rounded up, since what is "at most" this much must not be more; three digits or more. */
export function upTo(number: number): string {
  if (!Number.isFinite(number)) return String(number);
  const places = Math.max(0, 3 - Math.ceil(Math.log10(number)));
  return ceiling(number, places).toLocaleString("en", { maximumFractionDigits: 12 });
}

/** A chance that is a bound: rounded up, and short of certainty as long as it is. */
export function chanceUpTo(chance: number): string {
  for (let places = 1; places < 9; places++) {
    const percents = ceiling(100 * chance, places);
    if (percents < 100) return `${percents.toFixed(places)}%`;
  }
  return "100%";
}

const ceiling = (number: number, places: number): number => Math.ceil(number * 10 ** places - 1e-9) / 10 ** places;

export function odds(ratio: number): string {
  return `A report can shift anyone's odds by at most a factor of ${upTo(ratio)}.`;
}

export function suspicion(ratio: number, before = 0.5): string {
  const after = (before * ratio) / (before * ratio + 1 - before);
  return `Someone who suspected an answer half and half can become at most ${chanceUpTo(after)} sure.`;
}

const METHODS: Record<string, string> = {
  mle: "maximum likelihood",
  "mle-apx": "approximate maximum likelihood",
  "mle-reports": "maximum likelihood, from reports",
  ibu: "maximum likelihood, by IBU",
  gls: "generalised least squares",
};

/** A method as people call it, where its name is short for something. */
export const methodName = (name: string): string => METHODS[name] ?? name;

export const plural = (n: number, one: string, many = `${one}s`): string => `${whole(n)} ${n === 1 ? one : many}`;

export function share(hours: number): string {
  return hours % 24 === 0 ? plural(hours / 24, "day") : plural(hours, "hour");
}

/** The lines of a text field, without those that are empty or there before. */
export const linesOf = (text: string): string[] => [...new Set(text.split("\n").map((line) => line.trim()).filter(Boolean))];

export interface Sheet {
  readonly heads: readonly string[];
  readonly rows: Iterable<readonly (string | number)[]>;
}

const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** A cell; one that a spreadsheet would take for a formula is marked as text, and quoted if it must be. */
function cell(value: string | number, special: RegExp): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) && !NUMBER.test(value) ? `'${value}` : String(value);
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function lines({ heads, rows }: Sheet, between: string, special: RegExp): string[] {
  return [heads, ...rows].map((row) => row.map((each) => cell(each, special)).join(between));
}

export const csv = (sheet: Sheet): string => lines(sheet, ",", /[",\n\r]/).join("\r\n") + "\r\n";

/** As spreadsheets take it from the clipboard. */
export const tsv = (sheet: Sheet): string => lines(sheet, "\t", /["\t\n\r]/).join("\n") + "\n";

export function save(name: string, data: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
