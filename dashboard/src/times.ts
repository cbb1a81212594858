/** Buckets of time. */

import type { Bucket, Collection } from "./api.ts";

const HOUR = 3_600_000;
const DAY = 24; // hours
const WEEK = 7 * DAY;
const MONDAY = 4 * DAY; // the first one since 1970
const DAYS_SHOWN = 30;
const WEEKS_SHOWN = 26;

/** The hours between the starts of two buckets. */
export const hoursOf = (unit: string): number => ({ hour: 1, week: WEEK })[unit] ?? DAY;

type Counted = Pick<Collection, "waiting"> & { settings: { bucket: string }; buckets: readonly Pick<Bucket, "bucket" | "counted">[] };

/** Days, or weeks if that is all that is known of time: the first hour of the last ones, up to now. */
function steps(unit: string, now: number): { starts: number[]; hours: number } {
  const hours = unit === "week" ? WEEK : DAY;
  const offset = unit === "week" ? MONDAY : 0;
  const last = Math.floor((now / HOUR - offset) / hours) * hours + offset;
  const count = unit === "week" ? WEEKS_SHOWN : DAYS_SHOWN;
  return { starts: Array.from({ length: count }, (_, back) => last - (count - 1 - back) * hours), hours };
}

/** Reports on each of the last days, or weeks, with those on which there was none. */
export function recent({ settings, buckets }: Counted, now = Date.now()): { counts: number[]; text: string } {
  const { starts, hours } = steps(settings.bucket, now);
  const counts = starts.map((start) => buckets.reduce((sum, each) => (each.bucket >= start && each.bucket < start + hours ? sum + each.counted : sum), 0));
  return { counts, text: `Reports in each of the last ${starts.length} ${settings.bucket === "week" ? "weeks" : "days"}` };
}

/** Reports of this day, or week, and those that have just arrived and are not counted yet. */
export function today(collection: Counted, now = Date.now()): { count: number; text: string } {
  const counted = recent(collection, now).counts.at(-1)!;
  const span = collection.settings.bucket === "week" ? "this week (UTC)" : "today (UTC)";
  return { count: counted + collection.waiting, text: collection.waiting ? `${span}, or just arrived` : span };
}

/** An hour as people write it: the date alone at midnight, as the collector writes it too. */
export function momentOf(hour: number): string {
  const text = new Date(hour * HOUR).toISOString();
  return hour % DAY === 0 ? text.slice(0, 10) : `${text.slice(0, 13)}:00Z`;
}

export const dateOf = (seconds: number): string => new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ");

/** Ranges that people ask for, as the first and last bucket. */
export function ranges(collection: Collection): [string, string][] {
  const { buckets } = collection;
  if (collection.settings.bucket === "none" || buckets.length < 2) return [];
  const last = buckets.at(-1)!.bucket;
  const found: [string, string][] = [["", "all time"]];
  for (const [days, text] of [[1, "last day"], [7, "last 7 days"], [30, "last 30 days"], [90, "last 90 days"]] as const) {
    const first = last - DAY * days + 1;
    const start = buckets.find((each) => each.bucket >= first);
    if (start && start !== buckets[0]) found.push([`${start.bucket}-${last}`, text]);
  }
  const single = buckets.slice(-60).reverse().map((each): [string, string] => [`${each.bucket}-${each.bucket}`, each.time]);
  return [...found, ...single];
}
