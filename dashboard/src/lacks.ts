/** What stands where nothing can be shown: a fault as a sentence, or that too little has arrived. */

import type { Collection } from "./api.ts";
import { h } from "./dom.ts";
import { plural, whole } from "./format.ts";

/** What an error says, as a sentence. */
export function sentence(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}${/[.!?]$/.test(said) ? "" : "."}`;
}

export const notice = (error: unknown): HTMLElement => h("p", { class: "notice" }, sentence(error));

/** A collection of which nothing is published yet: there is nothing to ask for. */
export function nothingYet({ counted, waiting, settings: { minimum } }: Collection): HTMLElement {
  const arrived = counted + waiting;
  return h(
    "section",
    { class: "sheet", "aria-label": "Answer" },
    h("h2", {}, "Nothing to show yet"),
    h("p", { class: "quiet" }, arrived
      ? `${plural(arrived, "report")} ${arrived === 1 ? "has" : "have"} arrived. They are shown once at least ${whole(minimum)} can be shown together.`
      : `No reports have arrived. Nothing is shown before there ${minimum === 1 ? "is" : "are"} at least ${whole(minimum)}.`),
  );
}
