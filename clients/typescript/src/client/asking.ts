// Asking the collector: for the form of a collection, for ids, and what the form means for this device.

import { whole } from "../core/check.js";
import { refuse } from "../core/errors.js";
import { unhex } from "../core/hex.js";
import { newId } from "../core/id.js";
import type { Mechanism } from "../core/mechanism.js";
import { ID_BYTES, Question } from "../core/question.js";
import { bucketAt, formOf, isFresh, type Form } from "./form.js";
import type { Asked, Options } from "./options.js";
import { asked, isRefusal } from "./web.js";

/** What the collector is asked before anybody answers. */
export class Asking {
  readonly #options: Options;
  #form: Promise<Form> | undefined;
  #read: { form: Form; question: Asked } | undefined;
  #issued: Promise<[Uint8Array, number]> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Ask now for what an answer will need, so that asking does not tell when somebody answers, and read it. */
  async ahead(): Promise<void> {
    const form = await this.form();
    if (form.issued_ids) await (this.#issued = this.#drawId());
    await this.question(form);
  }

  /** Whether an answer needs nothing from the collector, and nothing that takes long. */
  ready(): boolean {
    const form = this.#read?.form;
    return !!form && isFresh(form) && !form.issued_ids;
  }

  /** What the collector says of the collection: signed, of this name, and not past its date by this device's clock. */
  async form(): Promise<Form> {
    const held = await this.#form?.catch(() => undefined);
    if (held && isFresh(held)) return held;
    return (this.#form = this.#asked());
  }

  async #asked(): Promise<Form> {
    const { url, collection, pinned, spec, bucket = "none" } = this.#options;
    if (spec !== undefined)
      return {
        collection,
        open: true,
        specs: [spec],
        bucket,
        segments: [],
        window: 168,
        issued_ids: false,
        issued: 0,
        expires: 2 ** 40,
      };
    const reply = await asked(`${url}/v1/forms/${encodeURIComponent(collection)}`);
    if (reply?.status === 404 && isRefusal(reply)) refuse("unknown", "the collector has no collection of this name");
    if (reply?.status !== 200) refuse("offline", `the collector gives no form (status ${reply?.status ?? "none"})`);
    return formOf(reply.said, collection, pinned);
  }

  /** The question of a form, read once: its newest spec, or the one that was reviewed. */
  async question(form: Form): Promise<Asked> {
    if (this.#read?.form !== form) this.#read = { form, question: await this.#questionOf(form) };
    return this.#read.question;
  }

  async #questionOf({ specs }: Form): Promise<Asked> {
    const { fingerprint, mechanisms, read = reading(mechanisms) } = this.#options;
    const trusted = fingerprint === undefined ? specs.slice(0, 1) : specs;
    for (const document of trusted.slice(0, -1)) {
      const found = await read(document, fingerprint).catch(() => undefined);
      if (found) return found;
    }
    return read(trusted.at(-1), fingerprint);
  }

  /** The places of this device's labels. */
  segments({ segments }: Form): number[] {
    return segments.map(({ name, labels }) => {
      const place = labels.indexOf(this.#options.segments?.[name] as string);
      return place < 0 ? refuse("segments", `segment ${name} must be one of ${labels.join(", ")}`) : place;
    });
  }

  /** The id of a report and its bucket: drawn here, or by the collector if its form says so. */
  async id(form: Form): Promise<[Uint8Array, number]> {
    const now = bucketAt(form.bucket, Math.max(Date.now() / 1000, form.issued));
    if (!form.issued_ids) return [newId(), now];
    const held = await this.#issued?.catch(() => undefined);
    this.#issued = undefined;
    return held?.[1] === now ? held : this.#drawId();
  }

  async #drawId(): Promise<[Uint8Array, number]> {
    const { url, key } = this.#options;
    const reply = await asked(`${url}/v1/ids?count=1`, { headers: { authorization: `Bearer ${key}` } });
    const { ids, bucket } = reply?.status === 200 ? reply.said : {};
    const id = unhex(String(Object(ids)[0]));
    if (id.length !== ID_BYTES) refuse("offline", "the collector gives no id");
    return [id, whole("bucket", bucket, 0, 2 ** 32 - 1)];
  }
}

/** How a spec of one question becomes a question. */
function reading(mechanisms: readonly Mechanism[]): NonNullable<Options["read"]> {
  return async (document, expected) => {
    const question = await Question.read(document, { mechanisms, fingerprint: expected });
    const { fingerprint, epsilon, coined } = question;
    return {
      fingerprint,
      epsilon,
      check: (value) => question.check(value),
      payload: (value, id) => (coined ? question.privatizeFor(value, id) : question.privatize(value)),
    };
  };
}
