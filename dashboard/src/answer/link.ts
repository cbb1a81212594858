/** What the link says. It all stands behind #, which no server sees. */

import type { Options } from "../../../clients/typescript/src/index.js";
import { all } from "../../../clients/typescript/src/all.js";
import { read } from "./question.ts";

const given = new URLSearchParams(location.hash.slice(1));

export const collection = given.get("collection") ?? "";
export const title = given.get("question") ?? collection.replaceAll(/[-_]/g, " ");
export const readKey = given.get("read") ?? "";

/** The groups of whoever answers: those of the link, `&segment.release=5.2`, and then those that the person picks. */
export const groups: Record<string, string> = Object.fromEntries(
  [...given].filter(([name]) => name.startsWith("segment.")).map(([name, label]) => [name.slice(8), label]),
);

export function options(): Options {
  const pinned = given.get("pinned");
  return {
    url: new URL(".", document.baseURI).href,
    key: given.get("key") ?? "",
    collection,
    mechanisms: all,
    read,
    segments: groups, // read when the report is made, and so after the person has picked
    delay: 2 ** 40,
    beacon: false,
    cap: 8,
    ...(pinned ? { pinned } : {}),
  };
}
