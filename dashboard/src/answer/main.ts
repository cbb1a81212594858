/** A participant's page: what the device is about to send, seen before it is sent, and the picture it becomes part of. */

import { Client, type Form, type Kept } from "../../../clients/typescript/src/index.js";
import { explained } from "../../../clients/typescript/src/client/explaining.js";
import { lendKey } from "../api.ts";
import { h, pick, replace, say } from "../dom.ts";
import { significant, upTo } from "../format.ts";
import { follow } from "../theme.ts";
import { calm, refusal } from "./calm.ts";
import { collection, groups, options, readKey, title } from "./link.ts";
import { picture } from "./picture.ts";
import { fields, read, type Posed } from "./question.ts";
import { beside, bytes } from "./report.ts";

const LOOKS = 500; // milliseconds between looks whether a report that waits has been sent
const main = document.getElementById("main")!;

async function start(): Promise<void> {
  if (!collection) return nothing();
  const client = new Client(options());
  const kept = await client.kept();
  if (kept?.frame === undefined) return ask(client);
  if (kept.fate !== "queued") return after(client);
  if (!kept.tried) return about(client);
  await after(client); // the person has said that it may be sent
  await client.send(true);
}

function nothing(): void {
  replace(main, h("div", { class: "sheet stack" }, h("h1", {}, "No question here"),
    h("p", {}, "Open this page by the link that came with the question: it names the collection and the key to send with."),
    h("p", { class: "quiet" }, h("code", {}, "answer.html#collection=way-to-work&key=dnw_…"))));
}

async function ask(client: Client): Promise<void> {
  const form = await client.form();
  const posed = await read(form.specs[0], undefined);
  if (!form.open) throw Object.assign(new Error("the collection is closed"), { code: "closed" });
  const asked = fields(posed.domain, title);
  const agreed = h("input", { type: "checkbox", id: "agreed" });
  const next = h("button", { class: "main" }, "See what would be sent");
  const wrong = h("p", { class: "notice", role: "alert", hidden: true });
  const missing = (): string => {
    if (asked.value() === undefined) return "Choose one of the answers.";
    const group = form.segments.find(({ name, labels }) => !labels.includes(groups[name] ?? ""));
    if (group) return `Choose your ${group.name}.`;
    return agreed.checked ? "" : "Nothing happens until you agree.";
  };
  const submit = async (): Promise<void> => {
    const lacking = missing();
    wrong.hidden = !lacking;
    wrong.textContent = lacking;
    if (lacking) return;
    next.disabled = true;
    try {
      await client.consent(true);
      await client.answer(asked.value());
      await about(client);
    } catch (error) {
      wrong.hidden = false;
      wrong.textContent = calm(error);
      next.disabled = false;
    }
  };
  replace(
    main,
    h("form", { class: "stack", novalidate: true, onsubmit: (event: Event) => { event.preventDefault(); void submit(); } },
      h("h1", {}, title),
      h("p", { class: "quiet" }, promise(posed)),
      asked.element,
      groupFields(form),
      h("label", { class: "check" }, agreed, "I agree that a randomised report of my answer is made"),
      wrong,
      h("div", {}, next)),
  );
}

function promise({ epsilon }: Posed): string {
  const odds = upTo(Math.exp(epsilon));
  return `Before your answer leaves this device, it is changed at random. What is sent can shift anyone's odds about you by a factor of at most ${odds}, so nobody, including us, can be certain what you chose.`;
}

/** What the link does not say of the groups by which reports are counted apart. */
function groupFields({ segments }: Form): HTMLElement | null {
  const open = segments.filter(({ name, labels }) => !labels.includes(groups[name] ?? ""));
  if (!open.length) return null;
  return h("fieldset", { class: "row" }, h("legend", {}, "Answers are counted apart by group. Your group is sent as it is, not at random."),
    open.map(({ name, labels }) => {
      delete groups[name];
      return pick(`Your ${name}`, [["", "choose"], ...labels.map((label) => [label, label] as const)], "", (label) => { groups[name] = label; });
    }));
}

async function about(client: Client): Promise<void> {
  const [kept, form] = await Promise.all([client.kept(), client.form().catch(() => null)]);
  const send = h("button", { class: "main", type: "button" }, "Send it");
  send.addEventListener("click", () => {
    send.disabled = true;
    void client.send(true).then(() => after(client), (error: unknown) => {
      console.warn(error);
      send.disabled = false;
      say("It could not be sent just now. Please try once more.");
    });
  });
  replace(
    main,
    h("div", { class: "sheet stack" },
      h("h1", {}, "This is the report"),
      bytes(kept!),
      h("p", {}, explained(kept, true)),
      h("div", {}, h("p", { class: "small" }, "With it go"), beside(kept!, form)),
      h("p", { class: "quiet small" }, "The collector also sees your network address, as every site does."),
      h("div", { class: "row" }, send, takeBackButton(client, "Take it back"))),
  );
  send.focus();
}

const HEADINGS: Record<string, string> = {
  queued: "Your report waits",
  sent: "Thank you. Your report has arrived.",
  withdrawing: "You took this answer back.",
  refused: "The collection did not take the report.",
};

async function after(client: Client): Promise<void> {
  const kept = (await client.kept())!;
  const { fate, kind } = kept;
  const ended = fate === "refused" || (fate === "expired" && kind === "too-old");
  const doubt = ended && (kept.unanswered ?? 0) > 0; // an earlier attempt may have arrived
  const why = kind !== undefined && !doubt && (fate === "queued" || fate === "refused") ? refusal(kind, fate === "queued") : fate === "queued" && "The collection cannot be reached right now.";
  const sheet = h("div", { class: "sheet stack" },
    h("h1", {}, doubt ? "Your report may have been counted." : HEADINGS[fate] ?? (ended ? "This answer came too late to be counted." : "You took this answer back.")),
    why && h("p", {}, why),
    fate === "queued" && h("p", {}, "It is sent by itself while this page is open. If you close the page, nothing is sent until you open it again."),
    h("p", {}, explained(kept, true)),
    h("p", { class: "quiet small" }, `Privacy spent on this device: epsilon ${significant(await client.spent(), 3)}. You will not be asked this again.`),
    (fate === "sent" || doubt) && h("div", {}, takeBackButton(client, "Forget it")),
    fate === "queued" && h("div", {}, takeBackButton(client, "Take it back")));
  const chart = h("div", {});
  replace(main, h("div", { class: "stack" }, sheet, readKey && chart));
  if (readKey) picture(chart, collection);
  if (fate === "queued" || fate === "withdrawing") watch(client, kept, sheet);
}

/** Show it when a report that waited has been sent, refused or taken back: here, by itself, or in another tab. */
function watch(client: Client, shown: Kept, sheet: HTMLElement): void {
  const timer = setInterval(() => {
    if (!sheet.isConnected) return clearInterval(timer);
    void client.kept().then((kept) => {
      if (!sheet.isConnected || (kept?.fate === shown.fate && kept.kind === shown.kind)) return;
      clearInterval(timer);
      void after(client).then(() => say(main.querySelector("h1")?.textContent ?? ""));
    }, () => undefined);
  }, LOOKS);
}

function takeBackButton(client: Client, text: string): HTMLButtonElement {
  return h("button", { type: "button", onclick: () => void takeBack(client) }, text);
}

async function takeBack(client: Client): Promise<void> {
  try {
    await client.forget();
    replace(main, h("div", { class: "sheet stack" }, h("h1", {}, "Taken back"), h("p", {}, await client.explain())));
  } catch (error) {
    console.warn(error);
    say("It could not be taken back just now. Please try once more.");
  }
}

follow();
lendKey(readKey);
addEventListener("hashchange", () => location.reload()); // another link
start().catch((error: unknown) => replace(main, h("p", { class: "notice", role: "alert" }, calm(error))));
