// A device that answers once: it asks for consent, keeps a ledger, and sends its reports until each has arrived.

import { refuse } from "../core/errors.js";
import { hex, unhex } from "../core/hex.js";
import { Asking } from "./asking.js";
import { chance } from "./chance.js";
import type { Form } from "./form.js";
import { framed, secretOf } from "./frame.js";
import { agree, answered, begin, entry, finish, forgotten, left, sendable } from "./ledger.js";
import type { Given, Options } from "./options.js";
import { deliver } from "./sending.js";
import { indexedDb, type Kept, type State, type Store } from "./store.js";

const CAP = 10; // of epsilon, as for the Python client
const DELAY = 3_600_000; // milliseconds, as for the Python client
const MOST = 2 ** 40; // of epsilon and of milliseconds: more than anybody needs
const PAUSE = 60_000; // after sending failed for a reason of this device's, such as a full store

/** What is done to the record, for the answer of a name. */
type Change<T> = (state: State, name: string) => T;

const nothing = (): undefined => undefined;
/** What there is to say of an answer that was given before. */
const stands = ({ fate }: Kept): Given => ({ fresh: false, fate });

/** One collection, on one person's device. */
export class Client {
  readonly #options: Options & { readonly cap: number; readonly delay: number };
  readonly #secret: Uint8Array;
  readonly #store: Store;
  readonly #name: string;
  readonly #channel: BroadcastChannel | undefined;
  readonly #asking: Asking;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<Kept | undefined> = Promise.resolve(undefined);
  #waiting: Kept | undefined;

  constructor(options: Options) {
    this.#secret = secretOf(options.key) ?? refuse("key", "key must be dnw_ and 22 letters");
    const { cap = CAP, delay = DELAY } = options;
    const numbers = { cap: numbered("cap", cap), delay: numbered("delay", delay) };
    this.#options = { ...options, ...numbers, url: addressOf(options.url) };
    this.#asking = new Asking(this.#options);
    this.#store = options.store ?? indexedDb();
    this.#name = `${this.#options.url} ${options.collection}`;
    this.#channel = channel(() => {
      this.#waiting = undefined; // until the store says that it may be sent
      void this.#look(nothing).catch(nothing);
    });
    if (options.beacon) globalThis.addEventListener?.("pagehide", () => this.#beacon());
    globalThis.addEventListener?.("online", () => void this.send().catch(nothing));
    void this.#begin().catch(nothing); // a blocked store, or no network, is told to whoever answers
  }

  /** Let this device answer the question, or not. Without consent nothing is drawn and nothing is sent. */
  async consent(given: boolean): Promise<void> {
    if (!given) this.#waiting = undefined;
    await this.#changed((state, name) => agree(state, name, given));
    if (given) void globalThis.navigator?.storage?.persist?.().catch(nothing);
  }

  /**
   * Answer the question, once: a second call keeps the first report, whatever it answers.
   *
   * What is spent is kept before anything is drawn. The promise is kept when the report is; it is sent later.
   */
  async answer(value: unknown): Promise<Given> {
    const ready = this.#asking.ready();
    const known = ready ? undefined : await this.#change(answered);
    if (known) return stands(known); // without asking anybody
    const form = await this.#asking.form();
    const asked = await this.#asking.question(form);
    let segments: number[] = [];
    const permitted = (): void => {
      asked.check(value);
      if (!form.open) refuse("closed", "the collection takes no more reports");
      segments = this.#asking.segments(form);
    };
    if (!ready) permitted(); // before an id is asked for
    const [id, hour] = await this.#asking.id(form);
    const { cap, url, delay, beacon = false } = this.#options;
    const { epsilon, fingerprint } = asked;
    const key = this.#secret;
    const intent = { epsilon, fingerprint, url, secret: hex(key), cap, permitted };
    const before = await this.#change((state, name) => begin(state, name, intent));
    if (before) return stands(before);
    const payload = await asked.payload(value, id);
    const made: Partial<Kept> = {
      fate: "queued",
      epsilon,
      fingerprint,
      frame: hex(framed({ key, fingerprint: unhex(fingerprint), hour, id, segments, payload })),
      bytes: payload.length,
      id: hex(id),
      hour,
      delay,
      next: Date.now() + chance() * delay,
      tried: beacon, // of which nobody says when it was sent
      unanswered: +beacon,
    };
    return this.#changed((state, name) => finish(state, name, made));
  }

  /** Send the report if it is due, which is also done by itself, or at once if `now`. Return what is kept then. */
  async send(now = false): Promise<Kept | undefined> {
    const sent = this.#sending
      .catch(nothing)
      .then(() => deliver(this.#store, this.#name, this.#options.key, now));
    this.#sending = sent;
    await sent.then(() => this.#changed(nothing), () => this.#look(nothing, PAUSE)).catch(nothing);
    return sent;
  }

  /** The epsilon that this device has spent in all, over all questions in its store. */
  async spent(): Promise<number> {
    return this.#change(({ spent = 0 }) => spent);
  }

  /** What is kept of the answer, and where it is. The value is not kept, so it cannot be told. */
  async kept(): Promise<Kept | undefined> {
    return this.#change(entry);
  }

  /** What is known of the answer, in plain words: what was sent, and what anyone can conclude from it. */
  async explain(): Promise<string> {
    return (await import("./explaining.js")).explained(await this.kept());
  }

  /**
   * Take the answer back and withdraw consent. If the report may have arrived, the collector is asked to delete it
   * until it has answered; `kept()` then tells whether it was deleted or had been counted.
   *
   * What was spent stays spent, and the question counts as answered.
   */
  async forget(): Promise<Kept | undefined> {
    this.#waiting = undefined;
    await this.#changed(forgotten);
    return this.send(true);
  }

  /** What the collector says of the collection: signed, of this name, and not past its date by this device's clock. */
  form(): Promise<Form> {
    return this.#asking.form();
  }

  /** Take up what an earlier visit left behind, or else ask for the form now, before anybody answers. */
  async #begin(): Promise<void> {
    if ((await this.#look(entry))?.frame === undefined) await this.#asking.ahead();
  }

  #change<T>(does: Change<T>): Promise<T> {
    return this.#store.change((state) => does(state, this.#name));
  }

  /** Change the record, tell other tabs, and look what is to be done now. */
  async #changed<T>(does: Change<T>): Promise<T> {
    const answer = await this.#look(does);
    this.#channel?.postMessage("");
    return answer;
  }

  /** Change the record, and send when something is due, but not before `pause` is over. */
  async #look<T>(does: Change<T>, pause = 0): Promise<T> {
    const [answer, mine] = await this.#change((state, name) => [does(state, name), sendable(state, name)] as const);
    this.#waiting = mine?.fate === "queued" ? mine : undefined;
    clearTimeout(this.#timer);
    const send = (): void => void this.send().catch(nothing);
    if (mine) this.#timer = setTimeout(send, Math.min(2 ** 30, Math.max(pause, left(mine))));
    return answer;
  }

  /** Send on leaving, without asking the store. Nobody says whether it arrived, so that it stays in the queue. */
  #beacon(): void {
    const mine = this.#waiting;
    if (mine) navigator.sendBeacon?.(`${mine.url}/v1/reports`, new Blob([unhex(mine.frame!)], { type: "text/plain" }));
  }
}

/** A setting that is a number. Any other would bound nothing, or would be due at once. */
function numbered(name: string, given: number): number {
  return typeof given === "number" && given >= 0 && given <= MOST
    ? given
    : refuse("setting", `${name} must be a number from 0 to ${MOST}`);
}

/** The address of a collector, always spelled the same way. */
function addressOf(url: string): string {
  try {
    return new URL(url, globalThis.location?.href).href.replace(/\/+$/, "");
  } catch {
    return refuse("url", "url must be a whole address, by http or https");
  }
}

/** How tabs tell each other that something has changed, where there are tabs. */
function channel(changed: () => void): BroadcastChannel | undefined {
  try {
    const made = new BroadcastChannel("deniable");
    made.onmessage = changed;
    (made as { unref?(): void }).unref?.(); // in Node it would keep the program from ending
    return made;
  } catch {
    return undefined;
  }
}
