// Checks of a document's members, all with the same wording: name, rule.

import { refuse } from "./errors.js";

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** Return a JSON object with exactly these members, or refuse it. */
export function members(what: string, value: unknown, needed: readonly string[], optional: readonly string[] = []): Members {
  if (typeof value !== "object" || !value || Array.isArray(value)) refuse("spec", `${what} must be a JSON object`);
  const wrong = [...needed, ...Object.keys(value)].find((name) => !Object.hasOwn(value, name) || ![...needed, ...optional].includes(name));
  if (wrong !== undefined) refuse("spec", `${what} has a missing or unknown member: ${wrong.slice(0, 40)}`);
  return value as Members;
}

/** Return a whole number from low to high, both allowed, or refuse it. */
export function whole(what: string, value: unknown, low: number, high: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < low || (value as number) > high)
    refuse("spec", `${what} must be a whole number from ${low} to ${high}`);
  return value as number;
}

/** Return a list of whole numbers, or refuse it. */
export function wholes(what: string, value: unknown, low: number, high: number): number[] {
  if (!Array.isArray(value)) refuse("spec", `${what} must be a list`);
  return value.map((each) => whole(what, each, low, high));
}

/** Return a finite number from low to high, or refuse it. */
export function between(what: string, value: unknown, low: number, high: number): number {
  if (typeof value !== "number" || !(value >= low && value <= high)) refuse("spec", `${what} must be a number from ${low} to ${high}`);
  return value;
}

/** Return a string, or refuse it. */
export function text(what: string, value: unknown): string {
  if (typeof value !== "string") refuse("spec", `${what} must be a string`);
  return value;
}

/** Refuse a document in which a number is larger than a device should work for. */
export function limit(what: string, found: number, most: number): void {
  if (found > most) refuse("limit", `spec needs ${found} ${what}, above the limit of ${most}`);
}
