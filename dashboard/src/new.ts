/** Makes a collection step by step, with the error to expect beside the choices. */

import { make, MOST, preview } from "./api.ts";
import { check, field, h, pick, replace } from "./dom.ts";
import { odds, percent, plural, decimals, linesOf, suspicion, whole } from "./format.ts";
import { link } from "./home.ts";
import { notice, sentence } from "./lacks.ts";
import type { Stage } from "./stage.ts";

interface Preview {
  spec: unknown;
  mechanism: string;
  epsilon: number;
  ratio: number;
  report_bits: number;
  n: number;
  std_error: { users: number };
}

interface Draft {
  name: string;
  labels: string;
  other: boolean;
  epsilon: number;
  users: number; // 0: what is written is no such number
  bucket: string;
  minimum: number;
  segments: string;
  origins: string;
}

const EPSILONS = [["0.5", "0.5, barely a hint"], ["1", "1, an even guess is right 3 times in 4 at most"], ["2", "2, right 9 times in 10 at most"], ["4", "4, nearly settles an even guess"]] as const;

function segmentsOf(text: string): { name: string; labels: string[] }[] {
  return linesOf(text).map((line) => {
    const [, name, labels] = /^([^:]*[^:\s])\s*:(.*)$/.exec(line) ?? [];
    const found = (labels ?? "").split(",").map((label) => label.trim()).filter(Boolean);
    if (!name || !found.length) throw new Error("Write groups as country: DE, FR, one kind per line.");
    return { name, labels: found };
  });
}

export async function newPage(stage: Stage): Promise<void> {
  const draft: Draft = { name: "", labels: "", other: false, epsilon: 1, users: 10_000, bucket: "day", minimum: 100, segments: "", origins: "" };
  const expected = h("div", { class: "stack", "aria-live": "polite" }, ...unknownYet(draft));
  const wrong = h("p", { class: "notice bad", role: "alert", hidden: true });
  let waiting = 0;
  let latest = 0;
  const look = (): void => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => void ask().catch(() => undefined), 250); // it stands beside the choices
  };
  /** The spec of what is written, which is shown with the error to expect unless something else was written meanwhile. */
  const ask = async (): Promise<unknown> => {
    const mine = ++latest;
    const labels = linesOf(draft.labels);
    if (labels.length < 2) {
      replace(expected, ...unknownYet(draft));
      throw new Error("Write at least two answers first.");
    }
    try {
      if (!draft.users) throw new Error(`Write how many people you expect: a whole number from 1 to ${whole(MOST.users)}.`);
      const found = await preview<Preview>({ labels, other: draft.other, epsilon: draft.epsilon, n: draft.users });
      if (mine === latest) replace(expected, ...shown(found));
      return found.spec;
    } catch (error) {
      if (mine === latest) replace(expected, notice(error));
      throw error;
    }
  };
  const text = (name: "name" | "labels" | "segments" | "origins", tag: "input" | "textarea", props: Record<string, unknown>): HTMLElement => {
    const input = h(tag, { ...props, oninput: () => { draft[name] = input.value; if (name === "labels") look(); } });
    return input;
  };
  const number = (name: "users" | "minimum"): HTMLElement => {
    const change = (): void => {
      draft[name] = input.validity.valid ? Number(input.value) : 0;
      if (name === "users") look();
    };
    const input = h("input", { type: "number", required: true, min: 1, max: MOST[name], value: draft[name], oninput: change });
    return input;
  };
  const finish = async (): Promise<void> => {
    wrong.hidden = true;
    try {
      const segments = segmentsOf(draft.segments);
      const spec = await ask();
      const settings = { bucket: draft.bucket, minimum: draft.minimum, segments, origins: linesOf(draft.origins) };
      const made = await make({ name: draft.name, spec, settings });
      done(stage, draft.name, made.keys);
    } catch (error) {
      wrong.hidden = false;
      wrong.textContent = sentence(error);
    }
  };
  stage.show(
    h("form", { class: "stack", onsubmit: (event: Event) => { event.preventDefault(); void finish(); } },
      h("h1", {}, "New collection"),
      h("div", { class: "columns" },
        h("ol", { class: "steps" },
          h("li", { class: "sheet" }, h("h2", {}, "What do you ask?"),
            field("Name, as it stands in addresses: lower-case letters, digits, . - and _", text("name", "input", { required: true, pattern: "[a-z0-9][a-z0-9._\\-]{0,63}", placeholder: "way-to-work" })),
            field("Answers, one per line", text("labels", "textarea", { rows: "6", required: true, placeholder: "walk\nbicycle\nbus or train\ncar" })),
            check("Everything else counts as “other”", false, (on) => { draft.other = on; look(); })),
          h("li", { class: "sheet" }, h("h2", {}, "How much privacy do people get?"),
            pick("Epsilon, for each person's answer", EPSILONS, "1", (value) => { draft.epsilon = Number(value); look(); }),
            field("How many people do you expect?", number("users"))),
          h("li", { class: "sheet" }, h("h2", {}, "What is kept, and published?"),
            h("div", { class: "row" },
              pick("Time", [["day", "the day"], ["hour", "the hour"], ["week", "the week"], ["none", "nothing"]], "day", (value) => { draft.bucket = value; }),
              field("Minimum number of reports", number("minimum"))),
            field("Groups, one kind per line, such as: country: DE, FR, other", text("segments", "textarea", { rows: "2" })),
            field("Sites whose pages may ask, one per line, such as: https://example.org", text("origins", "textarea", { rows: "2" }))),
          h("li", {}, wrong, h("button", { class: "main" }, "Make the collection"))),
        h("aside", { class: "sheet stack", "aria-label": "What to expect" }, h("h2", {}, "What to expect"), expected))),
  );
}

/** What the choices mean before there is a question. */
function unknownYet({ epsilon }: Draft): HTMLElement[] {
  const ratio = Math.exp(epsilon);
  return [h("p", { class: "quiet" }, "Write at least two answers to see what error to expect."), h("p", { class: "small" }, `${odds(ratio)} ${suspicion(ratio)}`)];
}

function shown(found: Preview): HTMLElement[] {
  const places = decimals(found.std_error.users);
  return [
    h("p", { class: "big" }, `± ${percent(found.std_error.users, places)}`),
    h("p", {}, `standard error of a share, from ${plural(found.n, "report")}. A share is right within ${percent(2 * found.std_error.users, places)} nearly always.`),
    h("p", {}, `Halving the error takes ${whole(4 * found.n)} people.`),
    h("p", { class: "small" }, `${odds(found.ratio)} ${suspicion(found.ratio)}`),
    h("p", { class: "small quiet" }, `${found.mechanism}, ${plural(found.report_bits, "bit")} per report: the mechanism with the least error for this question.`),
  ];
}

function done(stage: Stage, name: string, keys: { role: string; key: string }[]): void {
  stage.show(
    h("div", { class: "sheet stack" },
      h("h1", {}, `${name} is open`),
      h("p", { class: "notice" }, "These keys are shown once. Keep them now: the collector stores only their digests."),
      h("dl", { class: "facts" }, keys.flatMap(({ role, key }) => [h("dt", {}, role === "write" ? "to send reports" : "to read answers"), h("dd", {}, h("code", {}, key))])),
      h("p", {}, h("a", { class: "button", href: link(name) }, "Go to the collection"))),
  );
}
