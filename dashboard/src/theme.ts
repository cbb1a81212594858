/** Light and dark: the system's choice until a person makes their own. */

export type Theme = "light" | "dark";
const NAME = "deniable-theme";

function kept(): Theme | null {
  try {
    const found = localStorage.getItem(NAME);
    return found === "light" || found === "dark" ? found : null;
  } catch {
    return null; // storage is blocked: the choice lasts as long as the page
  }
}

const system = matchMedia("(prefers-color-scheme: dark)");
let chosen = kept();

export const theme = (): Theme => chosen ?? (system.matches ? "dark" : "light");

function apply(): void {
  document.documentElement.dataset["theme"] = theme();
  dispatchEvent(new Event("themechange"));
}

export function follow(): void {
  system.addEventListener("change", apply);
  apply();
}

export function switchTheme(): void {
  chosen = theme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(NAME, chosen);
  } catch {
    // see kept()
  }
  apply();
}

/** A colour of the theme, for pictures that must keep it when they leave the page. */
export const token = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
