// A device that answers once: it asks for consent, keeps a ledger, and sends its reports until each has arrived.

import { refuse } from "../core/errors.js";
import { newId } from "../core/id.js";
import type { Mechanism } from "../core/mechanism.js";
import { Question } from "../core/question.js";
import { chance, hex, unhex } from "./bytes.js";
import { bucketAt, formOf, type Form } from "./form.js";
import { framed, secretOf } from "./frame.js";
import { explained, forgotten } from "./rarely.js";
import { deliver, type Outcome } from "./sending.js";
import { indexedDb, type Fate, type Kept, type State, type Store } from "./store.js";

/** What a question must do for the client; `Question` and the heavy hitters both can. */
export interface Asked {
  readonly fingerprint: string;
  readonly epsilon: number;
  check(value: unknown): void;
  /** The payload of a report under this id. */
  payload(value: unknown, id: Uint8Array): Promise<Uint8Array>;
}

/** How a client is set up. */
export interface Options {
  /** The address of the collector, such as "https://reports.example". */
  readonly url: string;
  /** The write key of the collection: dnw_... */
  readonly key: string;
  readonly collection: string;
  readonly mechanisms: readonly Mechanism[];
  /** The SHA-256 of the collection's signing key. Without it any key is trusted that the address gives. */
  readonly pinned?: string;
  /** The fingerprint of the one spec that was reviewed. */
  readonly fingerprint?: string;
  /** A spec, where no form is to be asked for: with `bucket` and without segments, unless given. */
  readonly spec?: unknown;
  readonly bucket?: string;
  /** The labels of this device's segments by name. */
  readonly segments?: Readonly<Record<string, string>>;
  /** The most epsilon that this device may ever spend, over all questions in its store. */
  readonly cap?: number;
  readonly store?: Store;
  /** The longest wait before a report is sent, in milliseconds: when it is sent must not say when it was answered. */
  readonly delay?: number;
  /** Whether what waits is also sent when the page is left; true unless you say otherwise. */
  readonly beacon?: boolean;
  /** How a spec becomes a question; that of heavy hitters is in "deniable/heavy-hitters". */
  readonly read?: (spec: unknown, fingerprint: string | undefined) => Promise<Asked>;
}

/** Where an answer is. */
export interface Given {
  /** False if this question had been answered before: the first report stands. */
  readonly fresh: boolean;
  readonly fate: Fate;
}

/** One collection, on one person's device. */
export class Client {
  readonly #options: Options;
  readonly #store: Store;
  readonly #name: string;
  #form: Promise<Form> | undefined;
  #waiting: readonly Kept[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<Outcome[]> | undefined;

  constructor(options: Options) {
    if (!secretOf(options.key)) refuse("key", "key must be dnw_ and 22 letters");
    this.#options = { ...options, url: options.url.replace(/\/+$/, "") };
    this.#store = options.store ?? indexedDb();
    this.#name = `${this.#options.url} ${options.collection}`;
    if (options.beacon ?? true) globalThis.addEventListener?.("pagehide", () => this.#beacon());
    globalThis.addEventListener?.("online", () => void this.send());
    void this.#wake().catch(() => undefined); // what an earlier visit left behind; a blocked store is told to whoever answers
  }

  /** Let this device answer, or not. Without consent nothing is drawn and nothing is sent. */
  async consent(given: boolean): Promise<void> {
    await this.#store.change((state) => {
      state.consent = given;
    });
    if (given) await this.#wake();
  }

  /**
   * Answer the question, once: a second call keeps the first report, whatever it answers.
   *
   * What is spent is durable before anything is drawn. The promise is kept when the report is; it is sent later.
   */
  async answer(value: unknown): Promise<Given> {
    const known = await this.#store.change((state) => {
      agreed(state);
      return this.#mine(state);
    });
    if (known) return { fresh: false, fate: known.fate };
    const { form, asked } = await this.#asked();
    asked.check(value);
    if (!form.open) refuse("closed", "the collection takes no more reports");
    const segments = this.#segments(form);
    const seconds = this.#seconds(form);
    const [id, hour] = form.issued_ids ? await this.#issued() : [newId(), bucketAt(form.bucket, seconds)];
    const { cap = Infinity, url, delay = 60_000, key } = this.#options;
    const { epsilon, fingerprint } = asked;
    const before = await this.#store.change((state) => {
      agreed(state);
      const answers = (state.answers ??= {});
      const mine = answers[this.#name];
      if (mine?.frame) return mine;
      // an answer that was being drawn when the page was closed was never sent, so that it is drawn anew for nothing
      if (!mine) {
        const spent = (state.spent ?? 0) + epsilon;
        if (spent > cap) refuse("cap", `this device may spend ${cap} in all, and has spent ${state.spent ?? 0}`);
        state.spent = spent;
      }
      answers[this.#name] = { fate: "drawing", epsilon, fingerprint, url };
      return undefined;
    });
    if (before) return { fresh: false, fate: before.fate };
    const payload = await asked.payload(value, id);
    const frame = hex(framed({ key: secretOf(key)!, fingerprint: unhex(fingerprint), hour, id, segments, payload }));
    const fate = await this.#store.change((state): Fate => {
      const mine = state.answers?.[this.#name];
      if (!mine || mine.frame) return mine?.fate ?? "expired"; // taken back meanwhile, or another tab was faster
      Object.assign(mine, { fate: "queued", frame, id: hex(id), hour, next: Date.now() + chance() * delay });
      return "queued";
    });
    await this.#wake();
    return { fresh: true, fate };
  }

  /** Send what is due, which is also done by itself, or `all` that waits. Return what became of each report. */
  send(all = false): Promise<Outcome[]> {
    return (this.#sending ??= deliver(this.#store, all).finally(() => {
      this.#sending = undefined;
      void this.#wake().catch(() => undefined);
    }));
  }

  /** The epsilon that this device has spent in all. */
  async spent(): Promise<number> {
    return this.#store.change((state) => state.spent ?? 0);
  }

  /** What was answered here, and what became of it. The value is not kept, so it cannot be told. */
  async kept(): Promise<Kept | undefined> {
    return this.#store.change((state) => state.answers?.[this.#name]);
  }

  /** What is known of an answer, in plain words: what was sent, and what anyone can conclude from it. */
  async explain(): Promise<string> {
    return explained(await this.kept());
  }

  /**
   * Forget the answer and withdraw consent. The collector is asked to delete the report while it is not counted.
   *
   * What was spent stays spent, and the question counts as answered: asked again, it would cost again.
   */
  async forget(): Promise<void> {
    this.#waiting = [];
    await forgotten(this.#store, this.#name, this.#options.key);
  }

  async #asked(): Promise<{ form: Form; asked: Asked }> {
    const { spec, bucket = "none", collection, fingerprint, mechanisms } = this.#options;
    const read = this.#options.read ?? ((document, pinned) => questionOf(document, pinned, mechanisms));
    const given = spec === undefined ? undefined : { collection, open: true, specs: [spec], bucket, segments: [], window: 168, issued_ids: false, issued: 0, expires: 2 ** 40 };
    const form = given ?? (await this.#currentForm());
    const trusted = fingerprint === undefined ? form.specs.slice(0, 1) : form.specs;
    for (const document of trusted.slice(0, -1)) {
      const found = await read(document, fingerprint).catch(() => undefined);
      if (found) return { form, asked: found };
    }
    return { form, asked: await read(trusted.at(-1), fingerprint) };
  }

  async #currentForm(): Promise<Form> {
    const { url, collection, pinned } = this.#options;
    const held = await this.#form?.catch(() => undefined);
    if (held && Date.now() / 1000 < held.expires) return held;
    this.#form = fetch(`${url}/v1/forms/${encodeURIComponent(collection)}`)
      .catch(() => refuse("offline", "the collector does not answer"))
      .then(async (response) => formOf(response.ok ? await response.json() : refuse("offline", `the collector answered ${response.status}`), pinned));
    return this.#form;
  }

  /** The time by this device's clock, unless the form shows that it is wrong. */
  #seconds({ issued, expires }: Form): number {
    const seconds = Date.now() / 1000;
    return seconds < issued || seconds > expires ? issued : seconds;
  }

  #segments({ segments }: Form): number[] {
    return segments.map(({ name, labels }) => {
      const place = labels.indexOf(this.#options.segments?.[name] ?? "");
      return place < 0 ? refuse("segments", `segment ${name} must be one of ${labels.join(", ")}`) : place;
    });
  }

  /** An id that the collector drew, and the bucket for which it is good. */
  async #issued(): Promise<[Uint8Array, number]> {
    const { url, key } = this.#options;
    const response = await fetch(`${url}/v1/ids?count=1`, { headers: { authorization: `Bearer ${key}` } }).catch(() => undefined);
    if (!response?.ok) refuse("offline", "the collector gives no id");
    const { ids, bucket } = (await response.json()) as { ids: string[]; bucket: number };
    return [unhex(ids[0]!), bucket];
  }

  /** The answer, once its report is made. */
  #mine({ answers }: State): Kept | undefined {
    const mine = answers?.[this.#name];
    return mine?.frame ? mine : undefined;
  }

  async #wake(): Promise<void> {
    const waiting = await this.#store.change(queued);
    this.#waiting = waiting;
    clearTimeout(this.#timer);
    if (waiting.length) {
      const next = Math.min(...waiting.map((each) => each.next ?? 0)) - Date.now();
      this.#timer = setTimeout(() => void this.send(), Math.min(2 ** 30, Math.max(0, next)));
    }
  }

  /** Send on leaving, when there is no time to ask the store. Nobody says whether it arrived, so that it stays in the queue. */
  #beacon(): void {
    for (const { url, frame } of this.#waiting) navigator.sendBeacon?.(`${url}/v1/reports`, new Blob([unhex(frame!)], { type: "text/plain" }));
  }
}

function agreed({ consent }: State): void {
  if (!consent) refuse("consent", "the person has not agreed: call consent(true) when they have");
}

/** The reports that may be sent. */
function queued({ consent, answers = {} }: State): Kept[] {
  return consent ? Object.values(answers).filter((each) => each.fate === "queued") : [];
}

async function questionOf(document: unknown, fingerprint: string | undefined, mechanisms: readonly Mechanism[]): Promise<Asked> {
  const question = await Question.read(document, fingerprint === undefined ? { mechanisms } : { mechanisms, fingerprint });
  return {
    fingerprint: question.fingerprint,
    epsilon: question.epsilon,
    check: (value) => question.check(value),
    payload: (value, id) => (question.coined ? question.privatizeFor(value, id) : question.privatize(value)),
  };
}
