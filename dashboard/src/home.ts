/** All collections at a glance. */

import { collections, isAdmin, type Collection } from "./api.ts";
import { h } from "./dom.ts";
import { odds, plural, upTo, whole } from "./format.ts";
import { sparkline } from "./lines.ts";
import type { Stage } from "./stage.ts";
import { recent, today } from "./times.ts";

export function link(name: string, rest = ""): string {
  return `#/c/${encodeURIComponent(name)}${rest}`;
}

function card(each: Collection): HTMLLIElement {
  const newest = each.specs[0]!;
  const now = today(each);
  const course = recent(each);
  const kind = { closed: `${whole(newest.values ?? 0)} values`, open: "open strings", "heavy-hitters": "frequent strings" }[newest.kind];
  return h(
    "li",
    {},
    h(
      "article",
      { class: "sheet card" },
      h(
        "div",
        { class: "row between" },
        h("h2", {}, h("a", { href: link(each.name) }, each.name)),
        h("span", { class: `pill ${each.settings.open ? "open" : ""}` }, each.settings.open ? "open" : "closed"),
      ),
      h("div", { class: "row between" },
        h("div", {}, h("div", { class: "big" }, whole(each.counted + each.waiting)), h("div", { class: "quiet small" }, "reports in all")),
        each.settings.bucket !== "none" &&
          h("div", {}, h("div", { class: "big" }, whole(now.count)), h("div", { class: "quiet small" }, now.text)),
      ),
      each.settings.bucket !== "none" && sparkline(course.counts, course.text),
      h("p", { class: "small" }, odds(newest.ratio)),
      h("p", { class: "quiet small" }, `${newest.mechanism}, epsilon ${upTo(newest.epsilon)}, ${kind}. Published in steps of at least ${plural(each.settings.minimum, "report")}.`),
    ),
  );
}

export async function home(stage: Stage): Promise<void> {
  const found = await collections();
  stage.show(
    h(
      "div",
      { class: "stack" },
      h("div", { class: "row between" }, h("h1", {}, "Collections"), isAdmin() && h("a", { class: "button", href: "#/new" }, "New collection")),
      found.length
        ? h("ul", { class: "cards" }, found.map(card))
        : h("div", { class: "sheet" }, h("p", {}, "There is no collection yet."), isAdmin() ? h("p", { class: "quiet" }, "Make one: it takes a question, its answers, and how much privacy people get.") : null),
    ),
  );
}
