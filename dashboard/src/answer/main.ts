/** A participant's page: what the device is about to send, seen before it is sent, and the picture it becomes part of. */

import { all } from "../../../clients/typescript/src/all.js";
import { Client, DeniableError, type Options } from "../../../clients/typescript/src/index.js";
import { setKey } from "../api.ts";
import { h, replace, say } from "../dom.ts";
import { follow } from "../theme.ts";
import { calm } from "./calm.ts";
import { picture } from "./picture.ts";

const main = document.getElementById("main")!;
const given = new URLSearchParams(location.hash.slice(1));
const collection = given.get("collection") ?? "";

function options(): Options {
  const pinned = given.get("pinned");
  const url = new URL(".", document.baseURI).href;
  return { url, key: given.get("key") ?? "", collection, mechanisms: all, delay: 2 ** 40, beacon: false, cap: 8, ...(pinned ? { pinned } : {}) };
}

interface Form {
  specs: { domain: { labels?: string[]; low?: number; high?: number; other?: string; no_answer?: string }; parameters: { epsilon: number } }[];
}

async function form(): Promise<Form> {
  const response = await fetch(`v1/forms/${encodeURIComponent(collection)}`);
  if (!response.ok) throw new DeniableError("offline", "no form");
  return JSON.parse(((await response.json()) as { form: string }).form) as Form;
}

function values({ specs }: Form): (string | number)[] {
  const { labels = [], low = 0, high = -1, other } = specs[0]!.domain;
  return [...labels, ...Array.from({ length: Math.max(0, Math.min(200, high - low + 1)) }, (_, i) => low + i), ...(other ? [other] : [])];
}

async function start(): Promise<void> {
  if (!collection) return nothing();
  const client = new Client(options());
  const kept = await client.kept();
  if (kept?.frame !== undefined) return kept.fate === "queued" ? about(client) : after(client);
  await ask(client);
}

function nothing(): void {
  replace(main, h("div", { class: "sheet stack" }, h("h1", {}, "Nothing is asked here"),
    h("p", {}, "Open this page by the link that came with the question: it names the collection and the key to send with."),
    h("p", { class: "quiet" }, h("code", {}, "answer.html#collection=way-to-work&key=dnw_…"))));
}

async function ask(client: Client): Promise<void> {
  const found = await form();
  const odds = Math.exp(found.specs[0]!.parameters.epsilon);
  const agreed = h("input", { type: "checkbox", id: "agreed" });
  const next = h("button", { class: "main" }, "See what would be sent");
  const wrong = h("p", { class: "notice", role: "alert", hidden: true });
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const chosen = main.querySelector<HTMLInputElement>("input[name=value]:checked");
    wrong.hidden = Boolean(chosen && agreed.checked);
    if (!chosen) wrong.textContent = "Choose one of the answers.";
    else if (!agreed.checked) wrong.textContent = "Nothing happens until you agree.";
    else {
      next.disabled = true;
      try {
        await client.consent(true);
        await client.answer(values(found)[Number(chosen.value)]);
        await about(client);
      } catch (error) {
        wrong.hidden = false;
        wrong.textContent = calm(error);
        next.disabled = false;
      }
    }
  };
  replace(
    main,
    h("form", { class: "stack", onsubmit: (event: Event) => void submit(event) },
      h("h1", {}, title()),
      h("p", { class: "quiet" }, `Before your answer leaves this device, it is changed at random. What is sent can shift anyone's odds about you by a factor of at most ${odds.toPrecision(2)}, and nobody can tell whether it is what you chose, not even we.`),
      h("fieldset", { class: "choice" }, h("legend", { class: "hidden" }, title()),
        values(found).map((label, place) => h("label", {}, h("input", { type: "radio", name: "value", value: place }), String(label)))),
      h("label", { class: "check" }, agreed, "I agree that a randomised report of my answer is made"),
      wrong,
      h("div", {}, next)),
  );
}

const title = (): string => given.get("question") ?? collection.replaceAll(/[-_]/g, " ");

async function about(client: Client): Promise<void> {
  const kept = (await client.kept())!;
  const payload = kept.frame!.slice(152).match(/../g) ?? [];
  const shown = payload.slice(0, 64);
  const send = h("button", { class: "main", type: "button" }, "Send it");
  send.addEventListener("click", () => {
    send.disabled = true;
    void client.send(true).then(() => after(client), (error: unknown) => say(calm(error)));
  });
  const back = h("button", { type: "button", onclick: () => void takeBack(client) }, "Take it back");
  replace(
    main,
    h("div", { class: "sheet stack" },
      h("h1", {}, "This is all that will be sent"),
      h("div", { class: "sent mono", "aria-label": "The bytes of the report" }, shown.map((byte) => h("code", {}, byte)), payload.length > shown.length && `… ${payload.length} bytes in all`),
      h("p", {}, await client.explain()),
      h("p", { class: "quiet small" }, "With it go a random name, so that it is counted once, and the day. Your choice itself is not kept, not even here."),
      h("div", { class: "row" }, send, back)),
  );
  send.focus();
}

async function after(client: Client): Promise<void> {
  const kept = (await client.kept())!;
  const read = given.get("read");
  const chart = h("div", {});
  const words = {
    sent: "Thank you. Your report has arrived.",
    withdrawing: "You took this answer back.",
    expired: kept.kind === "too-old" ? "This answer came too late to be counted." : "You took this answer back.",
    refused: "The collection did not take the report.",
  };
  const why = kept.fate === "queued" || kept.fate === "refused" ? kept.kind : undefined; // of the others, explain() says it
  const waiting = "Your report waits until the collection can be reached. You may close this page.";
  replace(
    main,
    h("div", { class: "stack" },
      h("div", { class: "sheet stack" },
        h("h1", {}, (words as Record<string, string>)[kept.fate] ?? waiting),
        why !== undefined && h("p", { class: "quiet small" }, calm(kept)),
        h("p", {}, await client.explain()),
        h("p", { class: "quiet small" }, `This device has spent an epsilon of ${Number((await client.spent()).toPrecision(3))} in all. It will not be asked this again.`),
        kept.fate === "sent" && h("div", {}, h("button", { type: "button", onclick: () => void takeBack(client) }, "Forget it")),
      ),
      read && chart),
  );
  if (read) {
    setKey(read);
    picture(chart, collection);
  }
}

async function takeBack(client: Client): Promise<void> {
  try {
    await client.forget();
    replace(main, h("div", { class: "sheet stack" }, h("h1", {}, "Taken back"), h("p", {}, await client.explain())));
  } catch (error) {
    say(calm(error));
  }
}

follow();
start().catch((error: unknown) => replace(main, h("p", { class: "notice", role: "alert" }, calm(error))));
