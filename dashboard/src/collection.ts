/** One collection: who chose what, how sure that is, and what the collection promises. */

import { ApiError, collection as load, difference, estimate, isAdmin, type Answer, type Collection, type Difference } from "./api.ts";
import { controls } from "./controls.ts";
import { h, replace, say } from "./dom.ts";
import { facts, refused } from "./facts.ts";
import { decimals, percent, plural, whole } from "./format.ts";
import { histogram, type Drawing } from "./histogram.ts";
import { link } from "./home.ts";
import { exports } from "./exports.ts";
import { trends } from "./trends.ts";
import { valuesTable } from "./values.ts";
import { strings } from "./strings.ts";
import { places, question, readView, writeView, type View } from "./view.ts";

export interface Shown {
  collection: Collection;
  view: View;
  names: string[]; // of the groups side by side; one, without a name, if nothing is compared
  answers: Answer[];
  difference: Difference | null;
}

const MOST_GROUPS = 4;

async function ask(collection: Collection, view: View): Promise<Shown> {
  const segment = collection.settings.segments.find(({ name }) => name === view.compare);
  const asked = question(view);
  if (!segment) return { collection, view, names: [""], answers: [await estimate(collection.name, asked)], difference: null };
  const labels = segment.labels.slice(0, MOST_GROUPS);
  const tried = await Promise.allSettled(labels.map((label) => estimate(collection.name, { ...asked, [`segment.${segment.name}`]: label })));
  const found = labels.flatMap((label, i) => {
    const one = tried[i]!;
    if (one.status === "rejected" && !(one.reason instanceof ApiError && one.reason.kind === "too-few-reports")) throw one.reason;
    return one.status === "fulfilled" ? [[label, one.value] as const] : [];
  });
  if (found.length === 0) throw new ApiError(`No group by ${segment.name} has enough reports yet.`, "too-few-reports", 403);
  const [a, b] = found.map(([label]) => label);
  const between = b === undefined ? null : await difference(collection.name, { from: asked["from"], to: asked["to"], target: view.target, level: view.level, ...segments(asked), [`a.${segment.name}`]: a!, [`b.${segment.name}`]: b });
  return { collection, view, names: found.map(([label]) => label), answers: found.map(([, answer]) => answer), difference: between };
}

/** The labels to which a question is limited. */
function segments(asked: Record<string, string | boolean>): Record<string, string | boolean> {
  return Object.fromEntries(Object.entries(asked).filter(([name]) => name.startsWith("segment.")));
}

export async function collectionPage(main: HTMLElement, name: string, text: string): Promise<void> {
  const collection = await load(name);
  const view = readView(text);
  const above = h("div", { class: "sheet" }, h("p", { class: "quiet" }, "…"));
  const answer = h("div", { class: "stack" }, h("p", { class: "quiet" }, "Estimating…"));
  const closed = collection.specs[0]!.kind === "closed";
  replace(
    main,
    h(
      "div",
      { class: "stack" },
      heading(collection),
      h("div", { class: "columns" }, h("div", { class: "stack" }, closed && above, answer), h("div", { class: "stack" }, facts(collection), refused(collection))),
    ),
  );
  if (!closed) return strings(answer, collection);
  let latest = 0;
  const again = async (): Promise<void> => {
    const mine = ++latest;
    keep(name, view);
    answer.setAttribute("aria-busy", "true");
    try {
      const shown = await ask(collection, view);
      if (mine !== latest) return; // a later question is on its way
      replace(above, controls(collection, shown.answers[0]!, view, () => void again(), () => draw(shown)));
      draw(shown);
    } catch (error) {
      if (mine !== latest) return;
      replace(above, controls(collection, null, view, () => void again(), () => undefined));
      replace(answer, h("p", { class: "notice" }, error instanceof Error ? error.message : String(error)));
    } finally {
      answer.removeAttribute("aria-busy");
    }
  };
  const draw = (shown: Shown): void => {
    keep(name, view);
    drawn(answer, shown, () => draw(shown));
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

/** Draws an answer; sorting, searching and scales come here without asking the collector again. */
function drawn(target: HTMLElement, shown: Shown, again: () => void): void {
  const { view, answers, names } = shown;
  const labels = answers[0]!.columns.label;
  const order = places(view, labels, answers[0]!.columns.frequency);
  const drawing: Drawing = {
    labels,
    groups: answers.map((answer, i) => ({ name: names[i]!, ...answer.columns })),
    places: order.slice(0, view.top),
    log: view.log,
    width: Math.max(300, Math.min(860, target.clientWidth - 42)),
    title: described(shown, order),
  };
  const picture = order.length ? histogram(drawing) : null;
  replace(
    target,
    h(
      "section",
      { class: "sheet", "aria-label": "Histogram" },
      h("div", { class: "row between" }, h("h2", {}, title(shown)), picture && exports(shown, order, picture)),
      names.length > 1 && h("ul", { class: "legend" }, names.map((name, i) => h("li", {}, h("span", { class: `swatch g${i}` }), `${name} (${plural(answers[i]!.n, "report")})`))),
      picture ? h("div", { class: "figure" }, picture) : h("p", { class: "quiet" }, `No value contains “${view.search}”.`),
      h("p", { class: "quiet small" }, remarks(shown, order.length)),
      shown.difference?.alike && h("p", { class: "small" }, alike(shown)),
    ),
    valuesTable(shown, order, again),
    trends(shown, again),
  );
  say(picture ? `${plural(order.length, "value")} shown` : "Nothing found", true);
}

function title({ answers }: Shown): string {
  const answer = answers[0]!;
  return `${answers.length > 1 ? "Groups side by side" : plural(answer.n, "report")}, ${answer.method}${answer.simulated ? ", simulated" : ""}`;
}

function described({ answers, collection }: Shown, order: readonly number[]): string {
  const { label, frequency, std_error } = answers[0]!.columns;
  const first = order.slice(0, 3).map((place) => `${label[place]} ${percent(frequency[place]!, decimals(std_error[place]!))}`);
  return `Histogram of ${collection.name}: ${first.join(", ")}. The table below has all numbers.`;
}

function remarks({ answers, view }: Shown, found: number): string {
  const [answer] = answers as [Answer];
  const hidden = found > view.top ? `The ${view.top} first of ${whole(found)} values are drawn. ` : "";
  const promise = answer.simultaneous
    ? `The ${100 * Number(view.level)}% intervals hold for all values at once, so also for those at the top.`
    : `Each ${100 * Number(view.level)}% interval holds for a value named beforehand, not for those at the top.`;
  const withheld = answers.reduce((sum, each) => sum + each.withheld, 0);
  const least = percent(answer.visible_from, decimals(answer.visible_from / 4));
  const waiting = withheld ? ` ${plural(withheld, "report")} wait until there are enough to be told.` : "";
  return `${hidden}${promise} Nothing below about ${least} stands out from zero; such values are drawn with broken lines.${waiting}`;
}

function alike({ difference, names }: Shown): string {
  const { p_value: p, rate, differ } = difference!.alike!;
  const chance = p < 1e-4 ? "below 0.0001" : p.toPrecision(2);
  return differ
    ? `${names[0]} and ${names[1]} differ (p ${chance}, tested at ${rate}).`
    : `No difference between ${names[0]} and ${names[1]} can be shown (p ${chance}, tested at ${rate}).`;
}
