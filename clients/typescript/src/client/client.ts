// A device that answers once: it asks for consent, keeps a ledger, and sends its reports until each has arrived.

import { refuse } from "../core/errors.js";
import { Asking } from "./asking.js";
import { chance, hex, unhex } from "./bytes.js";
import type { Form } from "./form.js";
import { framed, secretOf } from "./frame.js";
import type { Given, Options } from "./options.js";
import { explained, forgotten } from "./rarely.js";
import { deliver } from "./sending.js";
import { indexedDb, type Kept, type State, type Store } from "./store.js";

const CAP = 10; // of epsilon, as for the Python client

/** One collection, on one person's device. */
export class Client {
  readonly #options: Options;
  readonly #store: Store;
  readonly #name: string;
  readonly #channel: BroadcastChannel | undefined;
  readonly #asking: Asking;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<Kept | undefined> = Promise.resolve(undefined);
  #waiting: Kept | undefined;

  constructor(options: Options) {
    if (!secretOf(options.key)) refuse("key", "key must be dnw_ and 22 letters");
    this.#options = { ...options, url: options.url.replace(/\/+$/, "") };
    this.#asking = new Asking(this.#options);
    this.#store = options.store ?? indexedDb();
    this.#name = `${this.#options.url} ${options.collection}`;
    if (options.beacon) {
      globalThis.addEventListener?.("pagehide", () => this.#beacon());
      this.#channel = new BroadcastChannel("deniable"); // a tab that takes an answer back tells the others
      this.#channel.onmessage = () => void this.#wake();
    }
    globalThis.addEventListener?.("online", () => void this.send().catch(() => undefined));
    void this.#begin().catch(() => undefined); // a blocked store, or no network, is told to whoever answers
  }

  /** Let this device answer the question, or not. Without consent nothing is drawn and nothing is sent. */
  async consent(given: boolean): Promise<void> {
    if (!given) this.#waiting = undefined;
    await this.#store.change((state) => {
      (state.consents ??= {})[this.#name] = given;
    });
    await this.#wake();
  }

  /**
   * Answer the question, once: a second call keeps the first report, whatever it answers.
   *
   * What is spent is durable before anything is drawn. The promise is kept when the report is; it is sent later.
   */
  async answer(value: unknown): Promise<Given> {
    const known = await this.#store.change((state) => this.#answered(state));
    if (known) return { fresh: false, fate: known.fate };
    const form = await this.#asking.form();
    const asked = await this.#asking.question(form);
    asked.check(value);
    if (!form.open) refuse("closed", "the collection takes no more reports");
    const segments = this.#asking.segments(form);
    const [id, hour] = await this.#asking.id(form);
    const { cap = CAP, url, delay = 60_000, key, beacon = false } = this.#options;
    const { epsilon, fingerprint } = asked;
    const before = await this.#store.change((state) => {
      const mine = this.#answered(state);
      if (mine) return mine;
      // an answer that was being drawn when the page was closed was never sent: only a larger epsilon costs more
      const known = state.answers?.[this.#name]?.epsilon ?? 0;
      const spent = (state.spent ?? 0) + Math.max(0, epsilon - known);
      if (spent > cap) refuse("cap", `this device may spend ${cap} in all, and has spent ${state.spent ?? 0}`);
      state.spent = spent;
      (state.answers ??= {})[this.#name] = { fate: "drawing", epsilon: Math.max(epsilon, known), fingerprint, url };
      return undefined;
    });
    if (before) return { fresh: false, fate: before.fate };
    const payload = await asked.payload(value, id);
    const frame = hex(framed({ key: secretOf(key)!, fingerprint: unhex(fingerprint), hour, id, segments, payload }));
    const given = await this.#store.change((state): Given => {
      const mine = state.answers?.[this.#name];
      if (mine?.frame !== undefined) return { fresh: false, fate: mine.fate }; // another tab was faster
      if (!mine || !state.consents?.[this.#name]) return { fresh: false, fate: "expired" }; // taken back meanwhile
      const next = Date.now() + chance() * delay;
      Object.assign(mine, {
        fate: "queued",
        epsilon,
        fingerprint,
        frame,
        bytes: payload.length,
        id: hex(id),
        hour,
        next,
        tried: beacon,
      });
      return { fresh: true, fate: "queued" };
    });
    await this.#wake();
    return given;
  }

  /** Send the report if it is due, which is also done by itself, or at once if `now`. Return what is kept then. */
  async send(now = false): Promise<Kept | undefined> {
    const before = this.#sending.catch(() => undefined);
    this.#sending = before.then(() => deliver(this.#store, this.#name, this.#options.key, now));
    try {
      return await this.#sending;
    } finally {
      await this.#wake().catch(() => undefined);
    }
  }

  /** The epsilon that this device has spent in all, over all questions in its store. */
  async spent(): Promise<number> {
    return this.#store.change((state) => state.spent ?? 0);
  }

  /** What is kept of the answer, and where it is. The value is not kept, so it cannot be told. */
  async kept(): Promise<Kept | undefined> {
    return this.#store.change((state) => state.answers?.[this.#name]);
  }

  /** What is known of the answer, in plain words: what was sent, and what anyone can conclude from it. */
  async explain(): Promise<string> {
    return explained(await this.kept());
  }

  /**
   * Take the answer back and withdraw consent. If the report may have left the device, the collector is asked to
   * delete it until it has answered; `kept()` then tells whether it was deleted or had been counted.
   *
   * What was spent stays spent, and the question counts as answered: asked again, it would cost again.
   */
  async forget(): Promise<Kept | undefined> {
    this.#waiting = undefined;
    await forgotten(this.#store, this.#name);
    this.#channel?.postMessage("");
    return this.send(true);
  }

  /** Take up what an earlier visit left behind, or else ask for the form now, before anybody answers. */
  async #begin(): Promise<void> {
    await this.#wake();
    if ((await this.kept())?.frame !== undefined) return;
    await this.#asking.ahead();
  }

  /** What the collector says of the collection: signed, of this name, and not past its date by this device's clock. */
  form(): Promise<Form> {
    return this.#asking.form();
  }

  async #wake(): Promise<void> {
    const mine = await this.#store.change(({ consents, answers }) => {
      const found = answers?.[this.#name];
      return found?.fate === "withdrawing" || (found?.fate === "queued" && consents?.[this.#name]) ? found : undefined;
    });
    this.#waiting = mine?.fate === "queued" ? mine : undefined;
    clearTimeout(this.#timer);
    const wait = Math.min(2 ** 30, Math.max(0, (mine?.next ?? 0) - Date.now()));
    if (mine) this.#timer = setTimeout(() => void this.send().catch(() => undefined), wait);
  }

  /** Send on leaving, without asking the store. Nobody says whether it arrived, so that it stays in the queue. */
  #beacon(): void {
    const mine = this.#waiting;
    if (mine) navigator.sendBeacon?.(`${mine.url}/v1/reports`, new Blob([unhex(mine.frame!)], { type: "text/plain" }));
  }

  /** The answer, once its report is made; refuse to go on without consent. */
  #answered({ consents, answers }: State): Kept | undefined {
    if (!consents?.[this.#name]) refuse("consent", "the person has not agreed: call consent(true) when they have");
    const mine = answers?.[this.#name];
    return mine?.frame === undefined ? undefined : mine;
  }
}
