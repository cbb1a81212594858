// The values a question allows, and the index 0..k-1 of each.

import { limit, members, text, whole, type Members } from "./check.js";
import { refuse } from "./errors.js";
import { isText } from "./json.js";

/** A number by which a mechanism knows a value: its place in a closed domain, its digest in an open one. */
export type Index = number | bigint;

/** The values a question allows. */
export interface Domain {
  readonly kind: "categories" | "integers" | "open";
  /** The number of values; 0 in an open domain, which lists none. */
  readonly k: number;
  /** The labels of all values in index order, without the numbers of a range. */
  readonly labels: readonly (string | number | boolean)[];
  /** The index of a value; values outside are refused unless there is a category for them. */
  index(value: unknown): Index;
}

/** How an open domain turns bytes into a digest; it comes with the mechanisms that hash strings. */
export type Digest = (bytes: Uint8Array<ArrayBuffer>, key: Uint8Array<ArrayBuffer>) => bigint;

const LARGEST = Number.MAX_SAFE_INTEGER;
const MOST_VALUES = 2 ** 31;

/** Read the domain of a spec; `digest` is undefined for mechanisms whose values must be listed. */
export function domainOf(document: unknown, digest: Digest | undefined): Domain {
  const extras = ["other", "no_answer"];
  const kind = (document as Members | null)?.kind;
  const own = { categories: ["labels"], integers: ["low", "high"], open: ["key", "max_bytes"] }[String(kind)];
  if (!own) refuse("spec", "domain kind must be one of categories, integers, open");
  const found = members("domain", document, ["kind", ...own], extras);
  const [other, missing] = extras.map((name) => (name in found ? text(name, found[name]) : undefined));
  if (other !== undefined && other === missing) refuse("spec", "no_answer must differ from other");
  const catchAll = (value: unknown): string => {
    const absent = value === undefined || value === null || Number.isNaN(value);
    const label = absent ? missing : other;
    return label ?? refuse("value", `the answer must be one that the question allows; there is no category for ${absent ? "no answer" : "others"}`);
  };
  if (kind === "open") return open(found, digest, [other, missing], catchAll);

  const named = [other, missing].filter((label) => label !== undefined);
  const listed = kind === "categories" ? labelsOf(found.labels) : [];
  const low = kind === "categories" ? 0 : whole("low", found.low, -LARGEST, LARGEST);
  const count = kind === "categories" ? listed.length : whole("high", found.high, low, LARGEST) - low + 1;
  const places = new Map<unknown, number>([...listed, ...named].map((label, place) => [label, count - listed.length + place]));
  const k = count + named.length;
  if (places.size !== listed.length + named.length) refuse("spec", "labels must be distinct");
  if (k < 2 || k > MOST_VALUES) refuse("spec", "domain must have from 2 to 2^31 values");

  const find = (value: unknown): number | undefined =>
    kind === "integers" && Number.isInteger(value) && (value as number) >= low && (value as number) - low < count
      ? (value as number) - low
      : places.get(value);
  return {
    kind: kind as "categories" | "integers",
    k,
    labels: [...listed, ...named],
    index: (value) => find(value) ?? (places.get(catchAll(value)) as number),
  };
}

function labelsOf(labels: unknown): (string | number | boolean)[] {
  if (!Array.isArray(labels) || !labels.length) refuse("spec", "labels must be a list");
  limit("labels", labels.length, 2 ** 16);
  const type = typeof labels[0];
  if (!["string", "number", "boolean"].includes(type) || labels.some((each) => typeof each !== type || (type === "number" && !Number.isSafeInteger(each))))
    refuse("spec", "labels must be all strings, all whole numbers, or true and false");
  return labels;
}

function open(found: Members, digest: Digest | undefined, extras: (string | undefined)[], catchAll: (value: unknown) => string): Domain {
  if (!digest) refuse("spec", "domain must be closed for this mechanism, which cannot hash strings");
  const most = whole("max_bytes", found.max_bytes, 1, 65_536);
  const key = utf8(text("key", found.key));
  const fits = (value: unknown): Uint8Array<ArrayBuffer> | undefined => {
    const bytes = value instanceof Uint8Array ? Uint8Array.from(value) : typeof value === "string" ? utf8(value) : undefined;
    return bytes && bytes.length <= most ? bytes : undefined;
  };
  if (!key || key.length > 32) refuse("spec", "key must have at most 32 bytes");
  if (extras.some((label) => label !== undefined && !fits(label))) refuse("spec", "other and no_answer must have at most max_bytes bytes");
  return {
    kind: "open",
    k: 0,
    labels: extras.filter((label) => label !== undefined),
    index: (value) => digest((fits(value) ?? fits(catchAll(value)))!, key),
  };
}

/** The UTF-8 of a string, or undefined if it holds half of a surrogate pair. */
export function utf8(value: string): Uint8Array<ArrayBuffer> | undefined {
  return isText(value) ? new TextEncoder().encode(value) : undefined;
}
