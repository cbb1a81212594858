/** The report before it leaves: its bytes, and all that goes with it. */

import type { Form, Kept } from "../../../clients/typescript/src/index.js";
import { h } from "../dom.ts";
import { plural } from "../format.ts";
import { momentOf } from "../times.ts";

const MOST_SHOWN = 64; // bytes
const SEGMENTS = 6; // the byte of a frame that says how many places of groups stand before the report

/** The bytes in a box that says what they are. */
export function bytes(kept: Kept): HTMLElement {
  const count = kept.bytes ?? 0;
  const payload = count > 0 ? (kept.frame!.slice(-2 * count).match(/../g) ?? []) : [];
  const shown = payload.slice(0, MOST_SHOWN);
  return h("figure", { class: "bytes" },
    h("figcaption", {}, `Your randomised answer, ${plural(count, "byte")}`),
    h("div", { class: "sent mono" }, shown.map((byte) => h("code", {}, byte)), payload.length > shown.length && "…"));
}

/** What goes with the bytes. Without a form, because nobody answers, the names of groups are not known. */
export function beside(kept: Kept, form: Form | null): HTMLElement {
  return h("ul", { class: "small" },
    h("li", {}, when(kept.hour ?? 0, form?.bucket)),
    h("li", {}, "a random number, by which the report is counted once: ", h("code", { class: "long" }, kept.id ?? "")),
    h("li", {}, "the fingerprint of the question: ", h("code", { class: "long" }, kept.fingerprint), ", and the key in the link of this page"),
    groupsOf(kept, form).map((text) => h("li", {}, text)));
}

function when(hour: number, bucket: string | undefined): string {
  const start = momentOf(hour);
  switch (bucket) {
    case "hour":
      return `the hour of your answer, in UTC: the one from ${start}`;
    case "week":
      return `the week of your answer, in UTC: the one from ${start}`;
    case "none":
      return `the day of your answer, in UTC: ${start}. It serves to tell repeats, and is not kept with the counts`;
    case "day":
      return `the day of your answer, in UTC: ${start}`;
    default:
      return `the time of your answer, no finer than the hour: from ${start} on`;
  }
}

function groupsOf(kept: Kept, form: Form | null): string[] {
  const places = (kept.frame ?? "").match(/../g)?.map((pair) => parseInt(pair, 16)) ?? [];
  const own = places.slice(76, 76 + (places[SEGMENTS] ?? 0));
  return own.map((place, number) => {
    const segment = form?.segments[number];
    return segment ? `your group: ${segment.name} ${segment.labels[place]}` : "your group";
  });
}
