/** Asks for a key. It stays in this tab, and travels in a header only. */

import { setKey } from "./api.ts";
import { h } from "./dom.ts";
import type { Stage } from "./stage.ts";

export function signIn(stage: Stage, query: string, wanted: string): void {
  const asked = new URLSearchParams(query);
  const given = asked.get("key"); // `make serve` prints such an address; what is behind # never reaches the server
  const input = h("input", { type: "password", autocomplete: "off", spellcheck: "false", size: "30", "aria-describedby": "key-help" });
  const wrong = h("p", { class: "notice bad", role: "alert", hidden: true });
  const enter = (text: string): void => {
    if (!/^dn[ra]_[A-Za-z0-9_-]{22}$/.test(text)) {
      wrong.hidden = false;
      wrong.textContent = text.startsWith("dnw_")
        ? "This key can only send reports. Reading takes one that starts with dnr_."
        : "A key to read starts with dnr_, an administrator's with dna_, and 22 letters follow.";
      input.focus();
      return;
    }
    setKey(text);
    location.replace(`#${wanted || asked.get("to") || "/"}`);
    if (!wanted) dispatchEvent(new Event("hashchange"));
  };
  if (given) return enter(given);
  stage.show(
    h(
      "form",
      {
        class: "sheet stack",
        onsubmit: (event: Event) => {
          event.preventDefault();
          enter(input.value.trim());
        },
      },
      h("h1", {}, "Sign in"),
      h("p", { id: "key-help", class: "quiet" }, "Paste a key that may read. It stays in this tab and is forgotten when you close it."),
      h("label", { class: "field" }, "Key", input),
      wrong,
      h("div", {}, h("button", { class: "main" }, "Open")),
      h("p", { class: "small quiet" }, "Want to see what it is like to be asked? ", h("a", { href: "answer.html" }, "Answer a question yourself"), "."),
    ),
  );
  input.focus();
}
