// Checks of a document's members, all with the same wording: name, rule.

import { refuse } from "./errors.js";

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** Refuse a document unless this holds: "labels must be distinct". */
export function must(holds: unknown, what: string, rule: string): asserts holds {
  if (!holds) refuse("spec", `${what} must ${rule}`);
}

/** Return a JSON object with exactly these members, or refuse it. */
export function members(
  what: string,
  value: unknown,
  needed: readonly string[],
  optional: readonly string[] = [],
): Members {
  must(value && typeof value === "object" && !Array.isArray(value), what, "be a JSON object");
  const known = [...needed, ...optional];
  const wrong = [...needed, ...Object.keys(value)].find((name) => !Object.hasOwn(value, name) || !known.includes(name));
  if (wrong !== undefined) refuse("spec", `${what} has a missing or unknown member: ${wrong.slice(0, 40)}`);
  return value as Members;
}

/** Return a whole number from low to high, both allowed, or refuse it. */
export function whole(what: string, value: unknown, low: number, high: number): number {
  must(Number.isSafeInteger(value), what, "be a whole number");
  return between(what, value, low, high);
}

/** Return a number from low to high, or refuse it. */
export function between(what: string, value: unknown, low: number, high: number): number {
  must(typeof value === "number" && value >= low && value <= high, what, `be a number from ${low} to ${high}`);
  return value;
}

/** Return a list of whole numbers, or refuse it. */
export function wholes(what: string, value: unknown, low: number, high: number): number[] {
  must(Array.isArray(value), what, "be a list");
  return value.map((each) => whole(what, each, low, high));
}

/** Whether every number is larger than the one before. */
export function isRising(numbers: readonly number[]): boolean {
  return numbers.every((each, place) => place === 0 || each > numbers[place - 1]!);
}

/** Return a string, or refuse it. */
export function text(what: string, value: unknown): string {
  must(typeof value === "string", what, "be a string");
  return value;
}

/** Refuse a document in which a number is larger than a device should work for. */
export function limit(what: string, found: number, most: number): void {
  if (found > most) refuse("limit", `spec needs ${found} ${what}, above the limit of ${most}`);
}
