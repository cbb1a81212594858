// JSON from strangers, and its canonical form (RFC 8785), whose SHA-256 is the fingerprint.

import { limit, must } from "./check.js";
import { DeniableError } from "./errors.js";

const MOST = 2 ** 21; // bytes or characters of a document

/** A document as plain data, and as the text that every language writes the same. */
export interface Document {
  readonly value: unknown;
  readonly canonical: string;
}

/** Read JSON text, UTF-8 bytes, or plain data; repeated members and text that is not Unicode are refused. */
export function read(source: unknown): Document {
  try {
    const given = source instanceof Uint8Array || typeof source === "string" ? source : JSON.stringify(source);
    limit("bytes of JSON", given?.length ?? 0, MOST);
    const text = typeof given === "string" ? given : new TextDecoder("utf-8", { fatal: true }).decode(given);
    const value: unknown = JSON.parse(text);
    const canonical = written(value);
    // JSON.parse keeps the last of two members with one name, so that a text with a repeated one has more colons
    must(colons(text) === colons(canonical), "spec", "have no member twice");
    return { value, canonical };
  } catch (error) {
    throw error instanceof DeniableError ? error : new DeniableError("spec", "spec must be JSON in UTF-8");
  }
}

/** Canonical JSON: members sorted by UTF-16 code units, numbers and strings as ECMAScript writes them, no spaces. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join()}]`;
  if (typeof value === "object" && value) {
    const pairs = value as Record<string, unknown>;
    return `{${Object.keys(pairs)
      .sort()
      .map((name) => `${written(name)}:${written(pairs[name])}`)
      .join()}}`;
  }
  must(typeof value !== "string" || isText(value), "spec", "be Unicode");
  return JSON.stringify(value);
}

/** Whether a string is Unicode: no half of a surrogate pair. */
export function isText(value: string): boolean {
  return !/\p{Cs}/u.test(value);
}

function colons(text: string): number {
  return text.replace(/"(?:[^"\\]+|\\.)*"/g, "").split(":").length;
}
