// Open domains: any string, without a list made beforehand. A value's index is its digest.

import { must, text, whole } from "../core/check.js";
import type { OpenDomain } from "../core/domain.js";
import { isText } from "../core/json.js";
import { digest } from "./functions.js";

/** Read a domain of any strings, or bytes, of up to `max_bytes` bytes. */
export const open: OpenDomain = (found, labels, catchAll) => {
  const most = whole("max_bytes", found.max_bytes, 1, 65_536);
  const key = utf8(text("key", found.key))!;
  const fitting = (value: unknown): Uint8Array | undefined => {
    const bytes = typeof value === "string" ? utf8(value) : value;
    return bytes instanceof Uint8Array && bytes.length <= most ? bytes : undefined;
  };
  must(key.length <= 32, "key", "have at most 32 bytes");
  must(labels.every(fitting), "other and no_answer", "have at most max_bytes bytes");
  return { kind: "open", k: 0, labels, index: (value) => digest((fitting(value) ?? fitting(catchAll(value)))!, key) };
};

/** The UTF-8 of a string, or undefined if it holds half of a surrogate pair. */
export function utf8(value: string): Uint8Array<ArrayBuffer> | undefined {
  return isText(value) ? new TextEncoder().encode(value) : undefined;
}
