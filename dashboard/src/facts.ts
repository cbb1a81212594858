/** What a collection promises, in plain words and exactly; and what it refused. */

import { documents, refusals, type Collection } from "./api.ts";
import { h, replace } from "./dom.ts";
import { odds, plural, share, suspicion, upTo, whole } from "./format.ts";
import { sentence } from "./lacks.ts";

export function facts(collection: Collection): HTMLElement {
  const { settings, specs, counted, published } = collection;
  const [newest] = specs as [Collection["specs"][0]];
  const total = counted + collection.waiting;
  const pairs: [string, Node | string][] = [
    ["Mechanism", `${newest.mechanism}, epsilon ${upTo(newest.epsilon)}`],
    ["Values", newest.values === null ? "any text" : whole(newest.values)],
    ["Reports", `${whole(counted)} counted, ${whole(published)} in answers, ${whole(collection.waiting)} waiting`],
    ["Published", `in steps of at least ${plural(settings.minimum, "report")}`],
    ["Time kept", settings.bucket === "none" ? "none" : `the ${settings.bucket}, in UTC`],
    ["Reports kept", settings.keep_reports ? "yes, after they are counted" : "no, only counts"],
    ["Counts kept", settings.bucket === "none" || settings.retention_days === null ? "forever" : plural(settings.retention_days, "day")],
    ["Late reports", `taken for ${share(settings.window_hours)}`],
    ["Fingerprint", h("code", {}, newest.fingerprint)],
    ["Signed by", h("code", {}, collection.signed_by)],
  ];
  const spec = h("pre", { tabindex: "0", "aria-label": "Spec" }, "…");
  const shown = h("details", {
    ontoggle: () => {
      if (spec.textContent === "…")
        void documents(collection.name).then(
          (found) => (spec.textContent = JSON.stringify(found[0], null, 1)),
          (error: unknown) => (spec.textContent = String(error)),
        );
    },
  }, h("summary", {}, "The spec"), spec);
  return h(
    "section",
    { class: "sheet stack", "aria-label": "Promise" },
    h("div", {}, h("h2", {}, "What people are promised"), h("p", {}, odds(newest.ratio)), h("p", { class: "quiet small" }, suspicion(newest.ratio))),
    total > 0 ? h("p", { class: "small" }, `Halving the errors takes ${whole(3 * total)} more reports: four times as many in all.`) : null,
    h("dl", { class: "facts small" }, pairs.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    specs.length > 1 && h("p", { class: "small quiet" }, `${specs.length} specs are counted apart and combined in the answers.`),
    shown,
    h("p", { class: "small quiet" }, "Counts cannot be undone. A report can be deleted by its id until it is counted."),
  );
}

export function refused(collection: Collection): HTMLElement {
  const body = h("div", {}, h("p", { class: "quiet" }, "…"));
  void refusals(collection.name).then(({ refusals: rows }) => {
    const totals = new Map<string, number>();
    for (const { kind, count } of rows) totals.set(kind, (totals.get(kind) ?? 0) + count);
    const sorted = [...totals].sort((a, b) => b[1] - a[1]);
    replace(
      body,
      sorted.length
        ? h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "reason"), h("th", { scope: "col" }, "requests"))),
            h("tbody", {}, sorted.map(([kind, n]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, kind)), h("td", {}, whole(n))))))
        : h("p", { class: "quiet" }, "Nothing was refused."),
    );
  }, (error: unknown) => replace(body, h("p", { class: "quiet" }, sentence(error))));
  return h("section", { class: "sheet", "aria-label": "Refused" }, h("h2", {}, "Refused requests"), body);
}
