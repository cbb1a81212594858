// The values a question allows, and the index 0..k-1 of each.

import { limit, members, must, text, whole, type Members } from "./check.js";
import { refuse } from "./errors.js";

/** A number by which a mechanism knows a value: its place in a closed domain, its digest in an open one. */
export type Index = number | bigint;

/** A value that a domain lists. */
export type Label = string | number | boolean;

/** The values a question allows. */
export interface Domain {
  /** "categories", "integers" or "open". */
  readonly kind: string;
  /** The number of values; 0 in an open domain, which lists none. */
  readonly k: number;
  /** The listed labels, then those of the catch-all categories; of a range of integers only the latter. */
  readonly labels: readonly Label[];
  /** The least value of a range of integers. */
  readonly low?: number;
  /** The index of a value; a value outside is refused unless there is a category for it. */
  index(value: unknown): Index;
}

/** How a domain of any strings is read; it comes with the mechanisms that hash them. */
export type OpenDomain = (found: Members, extras: readonly string[], catchAll: (value: unknown) => string) => Domain;

const LARGEST = Number.MAX_SAFE_INTEGER;
const MEMBERS = new Map([
  ["categories", ["labels"]],
  ["integers", ["low", "high"]],
  ["open", ["key", "max_bytes"]],
]);

/** Read the domain of a spec; `open` is undefined for mechanisms whose values must be listed. */
export function domainOf(document: unknown, open: OpenDomain | undefined): Domain {
  const kind = String((document as Members | null)?.kind);
  const own = MEMBERS.get(kind);
  must(own, "domain kind", `be one of ${[...MEMBERS.keys()]}`);
  const found = members("domain", document, ["kind", ...own], ["other", "no_answer"]);
  const extras = ["other", "no_answer"].flatMap((name) => (name in found ? [text(name, found[name])] : []));
  const catchAll = (value: unknown): string => {
    const name = value === undefined || value === null || Number.isNaN(value) ? "no_answer" : "other";
    return (
      (found[name] as string | undefined) ??
      refuse("value", `the question does not allow this answer, and has no category "${name}"`)
    );
  };
  if (kind === "open") {
    must(open, "domain", "be closed for this mechanism");
    return open(found, extras, catchAll);
  }

  const labels = [...("labels" in found ? labelsOf(found.labels) : []), ...extras];
  const low = "low" in found ? whole("low", found.low, -LARGEST, LARGEST) : 0;
  const count = "low" in found ? whole("high", found.high, low, LARGEST) - low + 1 : 0;
  const places = new Map<unknown, number>(labels.map((label, place) => [label, count + place]));
  const k = whole("the number of values", count + labels.length, 2, 2 ** 31);
  must(places.size === labels.length, "labels", "be distinct");
  const find = (value: unknown): number | undefined => {
    const place = Number.isInteger(value) ? (value as number) - low : -1;
    return place >= 0 && place < count ? place : places.get(value);
  };
  return { kind, k, labels, low, index: (value) => find(value) ?? places.get(catchAll(value))! };
}

function labelsOf(labels: unknown): Label[] {
  const kind = Array.isArray(labels) ? typeof labels[0] : "";
  must(
    ["string", "number", "boolean"].includes(kind) &&
      (labels as unknown[]).every((each) => typeof each === kind && (kind !== "number" || Number.isSafeInteger(each))),
    "labels",
    "be strings, whole numbers, or true and false",
  );
  limit("labels", (labels as Label[]).length, 2 ** 16);
  return labels as Label[];
}
