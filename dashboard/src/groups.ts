/** Chooses which groups stand side by side, and which two of them are subtracted. */

import type { Collection } from "./api.ts";
import { compared, groupsOf, MOST_GROUPS, pairOf } from "./asking.ts";
import { h, pick, replace } from "./dom.ts";
import type { View } from "./view.ts";

export interface GroupChoice {
  readonly element: HTMLElement;
  readonly update: () => void; // once another segment is compared
}

export function groupChoice(collection: Collection, view: View, ask: () => void): GroupChoice {
  const element = h("div", { hidden: true, class: "stack" });
  const pair = h("div", { class: "row" });
  const update = (): void => {
    const segment = compared(collection, view);
    element.hidden = !segment || segment.labels.length < 2;
    if (!segment) return replace(element);
    const boxes = segment.labels.map((label) => h("input", { type: "checkbox", value: label, onchange: () => chosen() }));
    const shown = (): string[] => groupsOf(segment, view);
    const mark = (): void => {
      boxes.forEach((box) => {
        box.checked = shown().includes(box.value);
        box.disabled = box.checked ? shown().length === 1 : shown().length >= MOST_GROUPS;
      });
      subtract(pair, shown(), view, ask);
    };
    const chosen = (): void => {
      view.groups = boxes.filter((box) => box.checked).map((box) => box.value);
      mark();
      ask();
    };
    const most = segment.labels.length > MOST_GROUPS ? `, at most ${MOST_GROUPS} of ${segment.labels.length} at a time` : "";
    mark();
    replace(element,
      h("fieldset", { class: "groups" }, h("legend", {}, `Groups${most}`), boxes.map((box) => h("label", { class: "check" }, box, box.value))),
      pair);
  };
  update();
  return { element, update };
}

/** Two lists; none if there is nothing to subtract. A group is never subtracted from itself: then the other one moves. */
function subtract(target: HTMLElement, names: readonly string[], view: View, ask: () => void): void {
  const pair = pairOf(names, view);
  if (!pair) return replace(target);
  const options = names.map((name) => [name, name] as const);
  const lists = [
    pick("Difference of", options, pair[0], (name) => choose(0, name)),
    pick("minus", options, pair[1], (name) => choose(1, name)),
  ];
  const choose = (place: number, name: string): void => {
    const [first, second] = pairOf(names, view)!;
    [view.minuend, view.subtrahend] = place === 0 ? [name, name === second ? first : second] : [name === first ? second : first, name];
    [view.minuend, view.subtrahend].forEach((each, i) => { lists[i]!.querySelector("select")!.value = each; });
    ask();
  };
  replace(target, ...lists);
}
