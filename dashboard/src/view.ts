/** What is shown of a collection: kept in the address, so that a look can be shared and comes back. */

export interface View {
  range: string; // "first-last" in hours, or empty
  method: string;
  target: "users" | "population";
  level: string;
  simultaneous: boolean;
  log: boolean;
  sort: "frequency" | "label" | "domain";
  top: number;
  search: string;
  only: Record<string, string>; // a label of a segment
  compare: string; // a segment whose labels are shown side by side
  groups: string[]; // its labels that are shown; none: the first ones
  minuend: string; // of the difference between two groups
  subtrahend: string;
  picked: string[]; // values in the trend
}

export const START: View = {
  range: "",
  method: "",
  target: "users",
  level: "0.95",
  simultaneous: true,
  log: false,
  sort: "frequency",
  top: 20,
  search: "",
  only: {},
  compare: "",
  groups: [],
  minuend: "",
  subtrahend: "",
  picked: [],
};

export function readView(text: string): View {
  const found = new URLSearchParams(text);
  const view: View = { ...START, only: {}, groups: found.getAll("group"), picked: found.getAll("picked").slice(0, 4) };
  view.range = found.get("range") ?? "";
  view.method = found.get("method") ?? "";
  view.target = found.get("target") === "population" ? "population" : "users";
  view.level = found.get("level") ?? START.level;
  view.simultaneous = found.get("each") !== "1";
  view.log = found.get("log") === "1";
  const sort = found.get("sort");
  view.sort = sort === "label" || sort === "domain" ? sort : "frequency";
  view.top = Math.max(1, Math.min(500, Number(found.get("top")) || START.top));
  view.search = found.get("search") ?? "";
  view.compare = found.get("compare") ?? "";
  view.minuend = found.get("of") ?? "";
  view.subtrahend = found.get("minus") ?? "";
  for (const [name, value] of found) if (name.startsWith("only.")) view.only[name.slice(5)] = value;
  return view;
}

export function writeView(view: View): string {
  const found = new URLSearchParams();
  const put = (name: string, value: string, usual: string): void => {
    if (value !== usual) found.set(name, value);
  };
  put("range", view.range, "");
  put("method", view.method, "");
  put("target", view.target, START.target);
  put("level", view.level, START.level);
  put("each", view.simultaneous ? "" : "1", "");
  put("log", view.log ? "1" : "", "");
  put("sort", view.sort, START.sort);
  put("top", String(view.top), String(START.top));
  put("search", view.search, "");
  put("compare", view.compare, "");
  put("of", view.minuend, "");
  put("minus", view.subtrahend, "");
  for (const label of view.groups) found.append("group", label);
  for (const [name, label] of Object.entries(view.only)) found.set(`only.${name}`, label);
  for (const label of view.picked) found.append("picked", label);
  return found.toString();
}

/** The part of a view that the collector must be asked for. */
export function question(view: View): Record<string, string | boolean> {
  const [first = "", last = ""] = view.range.split("-");
  const segments = Object.fromEntries(Object.entries(view.only).map(([name, label]) => [`segment.${name}`, label]));
  return { from: first, to: last, method: view.method, target: view.target, level: view.level, simultaneous: view.simultaneous, ...segments };
}

/** Which values are shown, in which order. */
export function places(view: View, labels: readonly string[], frequency: ArrayLike<number>): number[] {
  const wanted = view.search.trim().toLowerCase();
  const found: number[] = [];
  for (let place = 0; place < labels.length; place++)
    if (!wanted || labels[place]!.toLowerCase().includes(wanted)) found.push(place);
  if (view.sort === "frequency") found.sort((a, b) => frequency[b]! - frequency[a]! || a - b);
  if (view.sort === "label") found.sort((a, b) => (labels[a]! < labels[b]! ? -1 : 1));
  return found;
}
