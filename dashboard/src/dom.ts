/** Makes elements; text is always text, never markup. */

export type Child = Node | string | number | null | undefined | false;
type Props = Record<string, unknown>;

function assign(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "value") (element as HTMLInputElement).value = String(value);
    else if (name === "checked") (element as HTMLInputElement).checked = Boolean(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

export function add(parent: Element, ...children: (Child | Child[])[]): void {
  for (const child of children.flat())
    if (child !== null && child !== undefined && child !== false)
      parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  add(element, ...children); // a select needs its options before its value
  assign(element, props);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Child | Child[])[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  add(element, ...children);
  assign(element, props);
  return element;
}

export function replace(parent: Element, ...children: (Child | Child[])[]): void {
  parent.replaceChildren();
  add(parent, ...children);
}

let hiding = 0;

/** Says something in the line that screen readers announce; others see it for a moment, unless it is `quiet`. */
export function say(text: string, quiet = false): void {
  const line = document.getElementById("status")!;
  line.textContent = text;
  line.classList.toggle("shown", !quiet);
  clearTimeout(hiding);
  if (!quiet) hiding = window.setTimeout(() => line.classList.remove("shown"), 4000);
}

export function field(label: string, input: HTMLElement): HTMLLabelElement {
  return h("label", { class: "field" }, label, input);
}

export function check(label: string, on: boolean, change: (on: boolean) => void): HTMLLabelElement {
  const box = h("input", { type: "checkbox", checked: on, onchange: () => change(box.checked) });
  return h("label", { class: "check" }, box, label);
}

export function pick(
  label: string,
  options: readonly (readonly [string, string])[],
  value: string,
  change: (value: string) => void,
): HTMLLabelElement {
  const list = h(
    "select",
    { value, onchange: () => change(list.value) },
    options.map(([name, text]) => h("option", { value: name }, text)),
  );
  return field(label, list);
}
