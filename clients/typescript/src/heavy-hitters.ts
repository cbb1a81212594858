// Heavy hitters over open strings: which frequent strings there are, without a list of them made beforehand.
//
// A device draws one group, and answers for it alone: what are the first L bytes of your string? L grows from group to
// group.

import { isRising, members, must, text, whole, type Members } from "./core/check.js";
import { drawn } from "./core/draw.js";
import { refuse } from "./core/errors.js";
import { pinned, type Reading } from "./core/question.js";
import { specOf, type Spec } from "./core/spec.js";
import { utf8 } from "./hashing/open.js";
import { below } from "./randomness/choices.js";
import { Keystream } from "./randomness/keystream.js";

const END = 0xff; // after the last byte of a string
const CUT = 0xfe; // after the last byte kept of a string that is too long
const MAX_BYTES = 255;
const MAX_LEVELS = 64;

type Bytes = Uint8Array<ArrayBuffer>;

/** A report, and the group it belongs to. */
export interface LevelReport {
  readonly level: number;
  readonly payload: Bytes;
}

/** A question about frequent strings. It keeps nothing of an answer: every call spends epsilon. */
export class HeavyHitters {
  #longest: number | undefined;

  private constructor(
    /** The document's fingerprint, which is sent with every report. */
    readonly fingerprint: string,
    /** The spec of each group; that of a report's group made it. */
    readonly levels: readonly Spec[],
    readonly maxBytes: number,
    /** The bytes of a prefix in each group. */
    readonly lengths: readonly number[],
  ) {}

  /** Read the document: JSON text, its UTF-8 bytes, or what JSON.parse made of it. */
  static async read(source: unknown, { mechanisms, fingerprint }: Reading): Promise<HeavyHitters> {
    const found = await pinned(source, fingerprint);
    must(
      (found.value as Members | null)?.heavy_hitters === 1,
      "a heavy-hitter spec",
      'have the member "heavy_hitters": 1',
    );
    const given = members("a heavy-hitter spec", found.value, [
      "alphabet",
      "deniable",
      "heavy_hitters",
      "levels",
      "max_bytes",
    ]);
    must(
      given.deniable === 1 && Array.isArray(given.levels),
      "a heavy-hitter spec",
      "have layout 1, and a list of levels",
    );
    must(given.alphabet === null || text("alphabet", given.alphabet), "alphabet", "not be empty");
    const maxBytes = whole("max_bytes", given.max_bytes, 1, MAX_BYTES);
    whole("the number of levels", given.levels.length, 1, MAX_LEVELS);
    const levels: Spec[] = [];
    for (const level of given.levels) levels.push(await specOf(level, mechanisms));
    const lengths = given.levels.map((level: { domain: { max_bytes: number } }) => level.domain.max_bytes);
    must(
      levels.every((level) => level.domain.kind === "open"),
      "the levels",
      "take open strings",
    );
    must(
      isRising(lengths) && lengths.at(-1) === maxBytes + 1,
      "the lengths of prefixes",
      "rise, up to one more than max_bytes",
    );
    return new HeavyHitters(found.fingerprint, levels, maxBytes, lengths);
  }

  /** The largest epsilon of the groups, which is what a report may reveal at most. */
  get epsilon(): number {
    return Math.max(...this.levels.map((level) => level.epsilon));
  }

  /**
   * Throw a `DeniableError` unless this is a string, or the UTF-8 bytes of one. Nothing is drawn, and nothing is spent.
   */
  check(value: unknown): void {
    this.#sequence(value);
  }

  /** Make a report of a string: its group, drawn at random, and the bytes of its payload. */
  async privatize(value: unknown): Promise<LevelReport> {
    return this.privatizeWith(value, await Keystream.of(), await Keystream.of());
  }

  /** Make the report that these keystreams give, one for the group and one for the report; for tests. */
  async privatizeWith(value: unknown, group: Keystream, own: Keystream): Promise<LevelReport> {
    const sequence = this.#sequence(value);
    const level = await drawn(group, 0, 1, (choices) => below(choices, this.levels.length));
    const { domain, randomizer } = this.levels[level]!;
    const index = domain.index(sequence.slice(0, this.lengths[level]!));
    return {
      level,
      payload: await drawn(own, 0, randomizer.stride, (choices) => randomizer.randomize(index, choices)),
    };
  }

  /** The payload of a report as it lies in a frame: the group, then the report, and zeros up to the longest one. */
  async payload(value: unknown): Promise<Bytes> {
    const { level, payload } = await this.privatize(value);
    this.#longest ??= Math.max(...(await Promise.all(this.levels.map(sizeOf))));
    const framed = new Uint8Array(2 + this.#longest);
    framed.set([level & 255, level >> 8]);
    framed.set(payload, 2);
    return framed;
  }

  /** The bytes of a string followed by END, or as many whole characters as fit followed by CUT. */
  #sequence(value: unknown): Bytes {
    const data = textOf(value);
    if (data.length <= this.maxBytes) return Uint8Array.from([...data, END]);
    let stop = this.maxBytes;
    while ((data[stop]! & 0xc0) === 0x80) stop--; // inside a character
    return Uint8Array.from([...data.subarray(0, stop), CUT]);
  }
}

/** The bytes of a report of a group: those of a report of nothing, which is forgotten. */
async function sizeOf({ domain, randomizer }: Spec): Promise<number> {
  const index = domain.index(Uint8Array.of(END));
  return (await drawn(await Keystream.of(), 0, randomizer.stride, (choices) => randomizer.randomize(index, choices)))
    .length;
}

function textOf(value: unknown): Bytes {
  try {
    const string =
      value instanceof Uint8Array ? new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value) : value;
    const data = typeof string === "string" ? utf8(string) : undefined;
    if (data) return data;
  } catch {
    // bytes that are not UTF-8
  }
  return refuse("value", "the answer must be text");
}
