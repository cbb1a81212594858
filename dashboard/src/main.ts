/** The dashboard: which page an address means. */

import { ApiError, isAdmin, key } from "./api.ts";
import { collectionPage } from "./collection.ts";
import { h } from "./dom.ts";
import { home } from "./home.ts";
import { sentence } from "./lacks.ts";
import { newPage } from "./new.ts";
import { settingsPage } from "./settings.ts";
import { signIn } from "./sign-in.ts";
import { Stage } from "./stage.ts";
import { follow } from "./theme.ts";
import { retouch, top } from "./top.ts";

const main = document.getElementById("main")!;
let shows = 0;
let stage: Stage | undefined;

async function show(): Promise<void> {
  const [path = "", query = ""] = location.hash.slice(1).split("?");
  const [, first = "", name = "", rest = ""] = path.split("/").map(decoded);
  const place = first === "c" ? name : first === "new" ? "New collection" : "";
  document.title = place ? `${place} · deniable` : "deniable";
  top(place);
  const mine = ++shows;
  const own = (stage = new Stage(main, () => mine === shows));
  if (first === "key" || !key()) return signIn(own, query, first === "key" ? "" : path);
  try {
    if (first === "c" && rest === "settings") await settingsPage(own, name);
    else if (first === "c") await collectionPage(own, name, query);
    else if (first === "new" && isAdmin()) await newPage(own);
    else await home(own);
  } catch (error) {
    fault(own, error);
  }
}

/** A part of the address; one that is damaged names nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function fault(own: Stage, error: unknown): void {
  const keyless = error instanceof ApiError && (error.code === 401 || error.kind === "wrong-key");
  own.show(
    h(
      "div",
      { class: "stack" },
      h("p", { class: "notice bad", role: "alert" }, sentence(error)),
      h("div", { class: "row" },
        h("button", { type: "button", onclick: () => void show() }, "Try again"),
        keyless && h("a", { class: "button", href: "#/key" }, "Use another key"),
        location.hash.startsWith("#/c/") && !keyless && h("a", { class: "button", href: "#/" }, "All collections")),
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
addEventListener("themechange", () => {
  retouch();
  if (stage?.redraw) stage.redraw(); // pictures carry their colours
  else if (!document.querySelector("main form")) void show(); // nothing that somebody is writing
});
void show();
