/** For administrators: open or closed, minimum, retention, keys. */

import { change, collection as load, keys as list, makeKey, MOST, revokeKey, type Collection } from "./api.ts";
import { check, field, h, pick, replace, say } from "./dom.ts";
import { linesOf } from "./format.ts";
import { link } from "./home.ts";
import { sentence } from "./lacks.ts";
import type { Stage } from "./stage.ts";
import { dateOf } from "./times.ts";

export async function settingsPage(stage: Stage, name: string): Promise<void> {
  const [collection, known] = await Promise.all([load(name), list(name)]);
  const again = (): void => void settingsPage(stage, name).catch((error: unknown) => say(String(error)));
  const attempt = async (does: () => Promise<unknown>, said: string): Promise<void> => {
    try {
      await does();
      say(said);
      again();
    } catch (error) {
      say(sentence(error));
    }
  };
  const { settings } = collection;
  stage.show(
    h("div", { class: "stack" },
      h("div", { class: "row between" }, h("h1", {}, `Settings of ${name}`), h("a", { class: "button", href: link(name) }, "Back to the answers")),
      state(collection, attempt),
      h("section", { class: "sheet stack", "aria-label": "Rules" }, h("h2", {}, "Rules"), rules(collection, attempt),
        h("p", { class: "small quiet" }, `Buckets (${settings.bucket}) and segments stay as they were made: counts cannot be divided anew.`)),
      keySection(name, known, attempt)),
  );
}

type Attempt = (does: () => Promise<unknown>, said: string) => Promise<void>;

function state(collection: Collection, attempt: Attempt): HTMLElement {
  const { open } = collection.settings;
  const toggle = (): void => {
    if (open && !confirm("Close the collection? Devices will stop sending; what is counted stays.")) return;
    void attempt(() => change(collection.name, { open: !open }), open ? "Closed" : "Open again");
  };
  return h("section", { class: "sheet row between", "aria-label": "State" },
    h("div", {}, h("h2", {}, open ? "Open" : "Closed"), h("p", { class: "quiet" }, open ? "Reports are taken." : "Reports are refused; answers stay.")),
    h("button", { type: "button", class: open ? "danger" : "main", onclick: toggle }, open ? "Close" : "Open"));
}

function rules(collection: Collection, attempt: Attempt): HTMLElement {
  const { settings } = collection;
  const minimum = h("input", { type: "number", required: true, min: 1, max: MOST.minimum, value: settings.minimum });
  const timed = settings.bucket !== "none"; // without time no counts are older than others
  const retention = h("input", { type: "number", min: 1, max: MOST.days, value: settings.retention_days ?? "", placeholder: "forever" });
  const origins = h("textarea", { rows: "2", placeholder: "https://example.org", value: settings.origins.join("\n") });
  const keep = { on: settings.keep_reports };
  const store = (): void =>
    void attempt(
      () => change(collection.name, { minimum: Number(minimum.value), retention_days: timed && retention.value ? Number(retention.value) : null, keep_reports: keep.on, origins: linesOf(origins.value) }),
      "Saved",
    );
  return h("form", { class: "stack", onsubmit: (event: Event) => { event.preventDefault(); store(); } }, h("div", { class: "row" },
    field("Minimum number of reports", minimum), timed && field("Keep counts for (days)", retention),
    check("Keep reports after they are counted", keep.on, (on) => { keep.on = on; })),
    field("Sites whose pages may ask, one per line; * for all", origins), h("div", {}, h("button", { class: "main" }, "Save")));
}

function keySection(name: string, known: Awaited<ReturnType<typeof list>>, attempt: Attempt): HTMLElement {
  const fresh = h("div", { role: "status" });
  const wanted = { role: "write", label: "" };
  const label = h("input", { placeholder: "app 2.1", oninput: () => { wanted.label = label.value; } });
  const draw = (): void =>
    void makeKey(name, wanted.role, wanted.label).then(
      (made) => replace(fresh, h("p", { class: "notice" }, "Shown once: ", h("code", {}, made.key), " To rotate, hand it out first, then revoke the old one.")),
      (error: unknown) => say(sentence(error)),
    );
  const rows = known.map((each) =>
    h("tr", {},
      h("th", { scope: "row" }, h("code", {}, each.id.slice(0, 12))), h("td", {}, each.role), h("td", {}, each.label), h("td", {}, dateOf(each.made)),
      h("td", {}, each.revoked !== null ? `revoked ${dateOf(each.revoked)}` : h("button", {
        type: "button",
        class: "danger plain",
        "aria-label": `Revoke key ${each.id.slice(0, 12)}`,
        onclick: () => {
          if (confirm("Revoke this key? Whoever uses it is refused from now on.")) void attempt(() => revokeKey(name, each.id), "Revoked");
        },
      }, "Revoke"))));
  return h("section", { class: "sheet stack", "aria-label": "Keys" }, h("h2", {}, "Keys"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Keys of the collection" },
      h("table", { class: "words" }, h("thead", {}, h("tr", {}, ["key", "may", "label", "made (UTC)", "state"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows))),
    h("div", { class: "row" }, pick("New key to", [["write", "send reports"], ["read", "read answers"]], "write", (role) => { wanted.role = role; }), field("Label", label),
      h("button", { type: "button", onclick: draw }, "Make a key")), fresh);
}
