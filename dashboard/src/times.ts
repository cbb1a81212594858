/** Buckets of time. */

import type { Collection } from "./api.ts";

const HOUR = 3_600_000;

/** Reports counted in buckets that began today, in UTC. */
export function today(collection: Collection): number {
  const start = Math.floor(Date.now() / HOUR / 24) * 24;
  return collection.buckets.filter((each) => each.bucket >= start).reduce((sum, each) => sum + each.counted, 0);
}

/** An hour as people write it: the date alone at midnight, as the collector writes it too. */
export function momentOf(hour: number): string {
  const text = new Date(hour * HOUR).toISOString();
  return hour % 24 === 0 ? text.slice(0, 10) : `${text.slice(0, 13)}:00Z`;
}

export const dateOf = (seconds: number): string => new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ");

/** Ranges that people ask for, as the first and last bucket. */
export function ranges(collection: Collection): [string, string][] {
  const { buckets } = collection;
  if (collection.settings.bucket === "none" || buckets.length < 2) return [];
  const last = buckets.at(-1)!.bucket;
  const found: [string, string][] = [["", "all time"]];
  for (const [days, text] of [[1, "last day"], [7, "last 7 days"], [30, "last 30 days"], [90, "last 90 days"]] as const) {
    const first = last - 24 * days + 1;
    const start = buckets.find((each) => each.bucket >= first);
    if (start && start !== buckets[0]) found.push([`${start.bucket}-${last}`, text]);
  }
  const single = buckets.slice(-60).reverse().map((each): [string, string] => [`${each.bucket}-${each.bucket}`, each.time]);
  return [...found, ...single];
}
