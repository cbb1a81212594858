/** The bar at the top: where one is, which key looks, light or dark. */

import { isAdmin, key, setKey } from "./api.ts";
import { h, replace, s } from "./dom.ts";
import { switchTheme, theme } from "./theme.ts";

/** Three bars of a histogram behind a veil. */
function logo(): SVGSVGElement {
  return s(
    "svg",
    { viewBox: "0 0 26 26", "aria-hidden": "true" },
    [[3, 13, 10], [10, 5, 18], [17, 9, 14]].map(([x, y, height]) =>
      s("rect", { x, y, width: 6, height, rx: 1.5, fill: "currentColor", "fill-opacity": 0.25, stroke: "currentColor", "stroke-dasharray": "2 1.5" }),
    ),
  );
}

const themes = h("button", { type: "button", class: "plain", onclick: switchTheme });

/** Says on the switch which theme it leads to; the button stays, and with it the focus. */
export function retouch(): void {
  const other = theme() === "dark" ? "light" : "dark";
  themes.setAttribute("aria-label", `Switch to the ${other} theme`);
  themes.textContent = other === "dark" ? "☾" : "☀";
}

export function top(place: string): void {
  const who = key() ? (isAdmin() ? "administrator" : "reader") : "";
  retouch();
  replace(
    document.getElementById("top")!,
    h(
      "div",
      { class: "bar" },
      h("a", { class: "brand", href: "#/" }, logo(), "deniable"),
      h("span", { class: "grow quiet" }, place),
      who && h("span", { class: "pill" }, who),
      who && h("button", { type: "button", class: "plain", onclick: leave }, "Sign out"),
      themes,
    ),
  );
}

function leave(): void {
  setKey("");
  location.hash = "#/key";
}
