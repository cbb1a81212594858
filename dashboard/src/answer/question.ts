/** The question of a form, and the fields by which it is answered. */

import { all } from "../../../clients/typescript/src/all.js";
import { HeavyHitters } from "../../../clients/typescript/src/heavy-hitters.js";
import { Question, type Asked, type Domain } from "../../../clients/typescript/src/index.js";
import { field, h } from "../dom.ts";

const MOST_BUTTONS = 100; // more labels than these are written, with suggestions
const MOST_NUMBERS = 20; // more whole numbers than these are written

export interface Posed extends Asked {
  readonly domain: Domain | null; // null: any text, of which the frequent ones are found
}

/** Read a spec, or the document of heavy hitters. */
export async function read(document: unknown, fingerprint: string | undefined): Promise<Posed> {
  const reading = { mechanisms: all, fingerprint };
  if (typeof document === "object" && document !== null && "heavy_hitters" in document) {
    const found = await HeavyHitters.read(document, reading);
    const { epsilon } = found;
    return { fingerprint: found.fingerprint, epsilon, domain: null, check: (value) => found.check(value), payload: (value) => found.payload(value) };
  }
  const found = await Question.read(document, reading);
  return {
    fingerprint: found.fingerprint,
    epsilon: found.epsilon,
    domain: found.domain,
    check: (value) => found.check(value),
    payload: (value, id) => (found.coined ? found.privatizeFor(value, id) : found.privatize(value)),
  };
}

export interface Fields {
  readonly element: HTMLElement;
  readonly value: () => unknown; // undefined until something is chosen or written
}

/** Fields for the values of a domain: a button for each, or one to write in where there are too many. */
export function fields(domain: Domain | null, legend: string): Fields {
  const { kind = "open", k = 0, labels = [], low = 0 } = domain ?? {};
  const numbers = kind === "integers" ? k - labels.length : 0;
  const written = kind === "open" || numbers > MOST_NUMBERS || labels.length > MOST_BUTTONS;
  const listed = written && labels.length > MOST_BUTTONS ? [] : [...(written ? [] : Array.from({ length: numbers }, (_, place) => low + place)), ...labels];
  const buttons = listed.map((_, place) => h("input", { type: "radio", name: "value", value: place, onchange: () => { text.value = ""; } }));
  const text = h("input", {
    ...(numbers > 0 ? { type: "number", step: 1, min: low, max: low + numbers - 1, inputmode: "numeric" } : { type: "text", autocomplete: "off" }),
    ...(labels.length > MOST_BUTTONS ? { list: "values" } : {}),
    oninput: () => buttons.forEach((button) => { button.checked = false; }),
  });
  const hint = numbers > 0 ? `A whole number from ${low} to ${low + numbers - 1}` : "Your answer";
  const suggestions = labels.length > MOST_BUTTONS && h("datalist", { id: "values" }, labels.map((label) => h("option", { value: label })));
  const element = h("fieldset", { class: "choice" }, h("legend", { class: "hidden" }, legend),
    written && field(hint, text), suggestions,
    listed.map((label, place) => h("label", { class: "answer" }, buttons[place]!, String(label))));
  const value = (): unknown => {
    const chosen = buttons.findIndex((button) => button.checked);
    if (chosen >= 0) return listed[chosen];
    if (!written || text.value === "") return undefined;
    if (numbers > 0) return Number(text.value);
    return labels.find((label) => String(label) === text.value) ?? text.value;
  };
  return { element, value };
}
