/** The controls above a histogram. They stay while answers come and go, so that nothing closes and no focus is lost. */

import type { Answer, Collection } from "./api.ts";
import { check, field, h, pick, replace } from "./dom.ts";
import { methodName } from "./format.ts";
import { groupChoice } from "./groups.ts";
import { ranges } from "./times.ts";
import type { View } from "./view.ts";

const LEVELS = [["0.8", "80%"], ["0.9", "90%"], ["0.95", "95%"], ["0.99", "99%"]] as const;

export interface Controls {
  readonly element: HTMLElement;
  /** Shows what there is to choose from, now that there is an answer. */
  readonly update: (answer: Answer) => void;
  /** Shows how values are sorted, which the table changes too. */
  readonly sorted: () => void;
}

/** `ask` fetches again, `draw` only draws again. */
export function controls(collection: Collection, view: View, ask: () => void, draw: () => void): Controls {
  const { segments } = collection.settings;
  const times = ranges(collection);
  const set = <K extends keyof View>(name: K, then: () => void) => (value: View[K]): void => {
    view[name] = value;
    then();
  };
  const search = h("input", {
    type: "search",
    value: view.search,
    placeholder: "part of a value",
    oninput: () => {
      view.search = search.value;
      draw();
    },
  });
  const method = h("select", { onchange: () => set("method", ask)(method.value) });
  const offer = (methods: readonly string[]): void => {
    replace(method, ["", ...methods].map((name) => h("option", { value: name }, name ? methodName(name) : "best for these data")));
    method.value = view.method;
  };
  offer(view.method ? [view.method] : []);
  const sort = pick("Sort by", [["frequency", "share"], ["label", "name"], ["domain", "given order"]], view.sort, (value) => set("sort", draw)(value as View["sort"]));
  const groups = groupChoice(collection, view, ask);
  const element = h(
    "form",
    { class: "stack", "aria-label": "What to show", onsubmit: (event: Event) => event.preventDefault() },
    h(
      "div",
      { class: "row" },
      times.length > 0 && pick("Time", times, view.range, set("range", ask)),
      segments.map((segment) =>
        pick(segment.name, [["", "all together"], ...segment.labels.map((label) => [label, label] as const)], view.only[segment.name] ?? "", (label) => {
          if (label) view.only[segment.name] = label;
          else delete view.only[segment.name];
          ask();
        }),
      ),
      segments.length > 0 && pick("Side by side", [["", "no"], ...segments.map(({ name }) => [name, `by ${name}`] as const)], view.compare, (name) => {
        Object.assign(view, { compare: name, groups: [], minuend: "", subtrahend: "" });
        groups.update();
        ask();
      }),
      field("Search", search),
      sort,
      pick("Draw", [10, 20, 50, 100].map((n) => [String(n), `top ${n}`] as const), String(view.top), (value) => set("top", draw)(Number(value))),
      check("Log scale", view.log, set("log", draw)),
    ),
    groups.element,
    h(
      "details",
      {},
      h("summary", { class: "quiet" }, "How it is estimated"),
      h(
        "div",
        { class: "row" },
        field("Method", method),
        pick("Interval", LEVELS, view.level, set("level", ask)),
        pick("Holds for", [["1", "all values at once"], ["", "each value by itself"]], view.simultaneous ? "1" : "", (value) => set("simultaneous", ask)(value === "1")),
        pick("About", [["users", "the people who reported"], ["population", "the population they came from"]], view.target, (value) => set("target", ask)(value as View["target"])),
      ),
    ),
  );
  return { element, update: ({ methods }) => offer(methods), sorted: () => { sort.querySelector("select")!.value = view.sort; } };
}
