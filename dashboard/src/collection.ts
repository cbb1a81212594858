/** One collection: who chose what, how sure that is, and what the collection promises. */

import { collection as load, isAdmin, type Collection } from "./api.ts";
import { ask, type Shown } from "./asking.ts";
import { controls } from "./controls.ts";
import { h, replace } from "./dom.ts";
import { facts, refused } from "./facts.ts";
import { plural, whole } from "./format.ts";
import { link } from "./home.ts";
import { notice, nothingYet } from "./lacks.ts";
import { Look } from "./look.ts";
import type { Stage } from "./stage.ts";
import { strings } from "./strings.ts";
import { readView, writeView, type View } from "./view.ts";

export async function collectionPage(stage: Stage, name: string, text: string): Promise<void> {
  const collection = await load(name);
  if (!stage.live()) return;
  const answer = h("div", { class: "stack" }, h("p", { class: "quiet" }, "Estimating…"));
  const closed = collection.specs[0]!.kind === "closed";
  const above = h("div", { class: "sheet", hidden: !closed || !collection.published });
  stage.show(
    h(
      "div",
      { class: "stack" },
      heading(collection),
      h("div", { class: "columns" }, h("div", { class: "stack" }, above, answer), h("div", { class: "stack" }, facts(collection), refused(collection))),
    ),
  );
  if (!collection.published) replace(answer, nothingYet(collection));
  else if (closed) await answered(stage, collection, readView(text), above, answer);
  else await strings(answer, collection);
}

/** Asks and draws, and again whenever something is chosen. */
async function answered(stage: Stage, collection: Collection, view: View, above: HTMLElement, answer: HTMLElement): Promise<void> {
  let latest = 0;
  let shown: Shown | null = null;
  const again = async (): Promise<void> => {
    const mine = ++latest;
    const current = (): boolean => mine === latest && stage.live(); // no later question, and nobody has gone elsewhere
    keep(collection.name, view);
    answer.setAttribute("aria-busy", "true");
    try {
      const found = await ask(collection, view);
      if (!current()) return;
      shown = found;
      panel.update(found.answers[0]!);
      look.show(found);
    } catch (error) {
      if (!current()) return;
      shown = null;
      replace(answer, notice(error));
    } finally {
      if (mine === latest) answer.removeAttribute("aria-busy");
    }
  };
  const draw = (): void => {
    keep(collection.name, view);
    panel.sorted();
    if (shown) look.show(shown);
  };
  const panel = controls(collection, view, () => void again(), draw);
  const look = new Look(answer, collection, view, draw, () => keep(collection.name, view));
  replace(above, panel.element);
  stage.redraw = () => {
    if (!shown) return;
    look.show(shown);
    look.recolour();
  };
  await again();
}

function keep(name: string, view: View): void {
  const text = writeView(view);
  history.replaceState(null, "", link(name, text ? `?${text}` : ""));
}

function heading(collection: Collection): HTMLElement {
  const { settings, name } = collection;
  return h(
    "div",
    { class: "row between" },
    h("div", {}, h("h1", {}, name, " ", h("span", { class: `pill ${settings.open ? "open" : ""}` }, settings.open ? "open" : "closed")),
      h("p", { class: "quiet" }, `${plural(collection.counted + collection.waiting, "report")}${collection.waiting ? `, ${whole(collection.waiting)} of them on their way into the counts` : ""}`)),
    isAdmin() && h("a", { class: "button", href: link(name, "/settings") }, "Settings and keys"),
  );
}
