// A question as a device sees it: what may be answered, and the report of an answer.

import { drawn } from "./draw.js";
import type { Domain } from "./domain.js";
import { refuse } from "./errors.js";
import { hex } from "./hex.js";
import { read } from "./json.js";
import type { Mechanism } from "./mechanism.js";
import { specOf, type Spec } from "./spec.js";
import { Keystream, sha256 } from "../randomness/keystream.js";

/** How a document is read. */
export interface Reading {
  /** The mechanisms this program has: `[grr, oue]`. A document that names another is refused. */
  readonly mechanisms: readonly Mechanism[];
  /** The fingerprint that was reviewed, in hexadecimal; any other document is refused. */
  readonly fingerprint?: string | undefined;
}

/** Read a document, and its fingerprint, which must be the one that is expected, if one is. */
export async function pinned(
  source: unknown,
  expected: string | undefined,
): Promise<{ value: unknown; fingerprint: string }> {
  const { value, canonical } = read(source);
  const fingerprint = hex(await sha256(new TextEncoder().encode(canonical)));
  if (expected !== undefined && expected !== fingerprint)
    refuse("fingerprint", `the spec has the fingerprint ${fingerprint}, not the expected ${expected}`);
  return { value, fingerprint };
}

/** The bytes of a report's id. */
export const ID_BYTES = 16;

/** A question, read from its spec. It keeps nothing of an answer: every call spends epsilon. */
export class Question {
  private constructor(
    /** The spec's fingerprint, which is sent with every report. */
    readonly fingerprint: string,
    readonly spec: Spec,
  ) {}

  /** Read a spec: JSON text, its UTF-8 bytes, or what JSON.parse made of it. */
  static async read(source: unknown, reading: Reading): Promise<Question> {
    const { mechanisms, fingerprint } = Object(reading) as Reading;
    const found = await pinned(source, fingerprint);
    return new Question(found.fingerprint, await specOf(found.value, mechanisms));
  }

  /** What a report may reveal at most: no answer makes it more than e^epsilon times as likely as another does. */
  get epsilon(): number {
    return this.spec.epsilon;
  }

  /** The values the question allows. */
  get domain(): Domain {
    return this.spec.domain;
  }

  /** Throw a `DeniableError` unless this value may be the answer. Nothing is drawn, and nothing is spent. */
  check(value: unknown): void {
    this.domain.index(value);
  }

  /** Make a report of an answer, from a fresh key that is forgotten: the bytes of its payload. */
  async privatize(value: unknown): Promise<Uint8Array<ArrayBuffer>> {
    const { domain, randomizer } = this.spec;
    const index = domain.index(value);
    return drawn(await Keystream.of(), 0, randomizer.stride, (choices) => randomizer.randomize(index, choices));
  }

  /** Whether reports can be made under an id, which makes them shorter. */
  get coined(): boolean {
    return this.spec.randomizer.coined !== undefined;
  }

  /**
   * Make a report of an answer that is sent under this id: the bytes of its class alone.
   *
   * The id must not depend on the answer: draw it by `newId`.
   */
  async privatizeFor(value: unknown, id: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    const { domain, randomizer, mechanism } = this.spec;
    const coined =
      randomizer.coined ?? refuse("mechanism", `reports of ${mechanism} do not follow from an id; use privatize`);
    if (id.length !== ID_BYTES) refuse("value", `id must have ${ID_BYTES} bytes`);
    const index = domain.index(value);
    const publicNumber = await coined.publicOf(id);
    return drawn(await Keystream.of(), 0, coined.stride, (choices) => coined.randomize(index, publicNumber, choices));
  }
}
