// Sets for domains that must not be padded: a pseudo-random set modulo k itself, from a small seed, and its multiples.

import { limit, members, whole } from "../core/check.js";
import { chosen } from "../core/draw.js";
import { Keystream, sha256 } from "../randomness/keystream.js";
import { product } from "../randomness/words.js";
import { marked } from "../layouts/floyd.js";
import type { Sets } from "./difference.js";

const MOST_COHORTS = 256;
const LABEL = "deniable seeded simulation 1\0";

/** The sets of a seed: words of its stream 0 choose the set, words of its stream 1 the units. */
export async function randomSets(document: unknown, k: number): Promise<Sets> {
  const given = members("sets", document, ["modulus", "size", "count", "seed"]);
  const modulus = whole("modulus", given.modulus, k, k);
  limit("elements", modulus, 2 ** 22);
  const size = whole("size", given.size, 1, k - 1);
  const count = whole("count", given.count, 1, MOST_COHORTS);
  const key = new Uint8Array([...new TextEncoder().encode(LABEL), ...new Uint8Array(8)]);
  new DataView(key.buffer).setBigUint64(key.length - 8, BigInt(whole("seed", given.seed, 0, 2 ** 32)));
  const keystream = await Keystream.of(await sha256(key));

  const words = await keystream.words(0, 0, size);
  const set = await chosen(keystream, words, 2, (choices) => marked(choices, modulus, size));
  const places = new Uint32Array(modulus);
  for (let value = 0, inside = 0, outside = size; value < modulus; value++)
    places[set[value] ? inside++ : outside++] = value;
  return { modulus, size, multipliers: await units(keystream, modulus, count), element: (place) => places[place]! };
}

/** Distinct units modulo k, 1 first. */
async function units(keystream: Keystream, modulus: number, count: number): Promise<number[]> {
  const found = new Set([1]);
  for (let first = 0; found.size < count; first += 256) {
    const words = await keystream.words(1, first, 256);
    for (let at = 0; at < words.byteLength && found.size < count; at += 8) {
      const [unit] = product(words.getUint32(at + 4, true), words.getUint32(at, true), modulus);
      if (common(unit, modulus) === 1) found.add(unit);
    }
  }
  return [...found];
}

function common(a: number, b: number): number {
  return b ? common(b, a % b) : a;
}
