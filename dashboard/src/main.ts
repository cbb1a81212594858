/** The dashboard: which page an address means. */

import { ApiError, isAdmin, key } from "./api.ts";
import { collectionPage } from "./collection.ts";
import { h, replace } from "./dom.ts";
import { home } from "./home.ts";
import { newPage } from "./new.ts";
import { settingsPage } from "./settings.ts";
import { signIn } from "./sign-in.ts";
import { follow } from "./theme.ts";
import { top } from "./top.ts";

const main = document.getElementById("main")!;

async function show(): Promise<void> {
  const [path = "", query = ""] = location.hash.slice(1).split("?");
  const [, first = "", name = "", rest = ""] = path.split("/").map(decodeURIComponent);
  const place = first === "c" ? name : first === "new" ? "New collection" : "";
  document.title = place ? `${place} · deniable` : "deniable";
  top(place);
  if (first === "key" || !key()) return signIn(main, query, first === "key" ? "" : path);
  try {
    if (first === "c" && rest === "settings") await settingsPage(main, name);
    else if (first === "c") await collectionPage(main, name, query);
    else if (first === "new" && isAdmin()) await newPage(main);
    else await home(main);
  } catch (error) {
    fault(error);
  }
}

function fault(error: unknown): void {
  const said = error instanceof Error ? error.message : String(error);
  const keyless = error instanceof ApiError && (error.code === 401 || error.kind === "wrong-key");
  replace(
    main,
    h(
      "div",
      { class: "stack" },
      h("p", { class: "notice bad", role: "alert" }, said),
      h("div", { class: "row" },
        h("button", { type: "button", onclick: () => void show() }, "Try again"),
        keyless && h("a", { class: "button", href: "#/key" }, "Use another key")),
    ),
  );
}

let from = location.hash.split("?")[0];
addEventListener("hashchange", () => {
  const to = location.hash.split("?")[0];
  void show().then(() => {
    if (to !== from) main.focus({ preventScroll: true });
    from = to;
  });
});
follow();
addEventListener("themechange", () => void show()); // pictures carry their colours
void show();
