// Reports from given keys: what programs in two languages compare. Such a report protects nobody and must not be sent.

import { drawn } from "./core/draw.js";
import type { Question } from "./core/question.js";
import type { HeavyHitters, LevelReport } from "./heavy-hitters.js";
import { Keystream } from "./randomness/keystream.js";

type Bytes = Uint8Array<ArrayBuffer>;

/** The reports that values have in a batch under one key, in order. */
export async function reportsFrom(question: Question, values: readonly unknown[], key: Bytes): Promise<Bytes[]> {
  const { domain, randomizer } = question.spec;
  const keystream = await Keystream.of(key);
  return Promise.all(
    values.map((value, place) => {
      const index = domain.index(value);
      return drawn(keystream, place, randomizer.stride, (choices) => randomizer.randomize(index, choices));
    }),
  );
}

/** The report of a value under an id and a key: the bytes of its class. */
export async function reportFor(question: Question, value: unknown, id: Uint8Array, key: Bytes): Promise<Bytes> {
  const { domain, randomizer } = question.spec;
  const { stride, publicOf, randomize } = randomizer.coined!;
  const publicNumber = await publicOf(id);
  return drawn(await Keystream.of(key), 0, stride, (choices) => randomize(domain.index(value), publicNumber, choices));
}

/** The report of a string to a question about heavy hitters, under a key for its group and a key of its own. */
export async function levelReportFrom(
  question: HeavyHitters,
  value: unknown,
  group: Bytes,
  own: Bytes,
): Promise<LevelReport> {
  return question.privatizeWith(value, await Keystream.of(group), await Keystream.of(own));
}
