// Summation with histogram encoding: every value gets a level, drawn with noise; the sender's is turned round.

import { MODULUS, bitLength } from "../core/bounds.js";
import { limit, whole } from "../core/check.js";
import type { Mechanism } from "../core/mechanism.js";
import { less, word } from "../randomness/words.js";

const MOST_VALUES = 2 ** 16;
const FIXED = 128n; // bits after the point of the powers of e^(-epsilon/2)

/** Summation with histogram encoding. */
export const she: Mechanism = {
  name: "she",
  version: 1,
  parameters: ["reach"],
  build({ domain: { k }, bound, parameters }) {
    limit("values", k, MOST_VALUES);
    const reach = whole("reach", parameters.reach, 0, 127);
    const levels = 2 * reach + 2;
    const bits = bitLength(levels - 1);
    const starts: bigint[] = [];
    for (const weight of levelWeights(bound, reach).slice(0, -1)) starts.push((starts.at(-1) ?? 0n) + weight);
    // the words at which levels begin, padded to 2^bits - 1 entries that no word reaches
    const limits = Array.from({ length: 2 ** bits - 1 }, (_, i) =>
      i < starts.length ? word(starts[i]!) : { high: 2 ** 32, low: 0 },
    );
    return {
      thresholds: Object.fromEntries(starts.map((start, i) => [`level_${i + 1}`, start])),
      stride: k, // one word per value
      randomize(index, choices) {
        const bytes = new Uint8Array((k * bits + 7) >> 3);
        for (let value = 0; value < k; value++) {
          choices.next();
          let level = 0; // all words take the same steps, each of which decides whether to skip half of the limits left
          for (let half = 2 ** (bits - 1); half >= 1; half /= 2)
            level += half * (1 - less(choices.high, choices.low, limits[level + half - 1]!));
          level += +(value === index) * (levels - 1 - 2 * level);
          // bit b of the level of value v is bit i mod 8 of byte i div 8, i = v bits + b
          const at = value * bits;
          bytes[at >> 3]! |= level << (at & 7);
          if (at >> 3 < bytes.length - 1) bytes[(at >> 3) + 1]! |= level >> (8 - (at & 7));
        }
        return bytes;
      },
    };
  },
};

/** Number of words that give each level of a value not the sender's; see the Python package for the proof. */
function levelWeights(bound: bigint, reach: number): bigint[] {
  const one = 1n << FIXED;
  const q = root((one * one * MODULUS) / bound); // e^(-epsilon/2), in units of 2^-128
  const beyond = [MODULUS]; // beyond[d]: words of the pairs d, d + 1, ...
  for (let d = 1, power = one; d <= reach; d++) {
    power = (power * q) >> FIXED;
    const even = 2n * ((MODULUS * power) >> (FIXED + 1n));
    beyond.push(least(beyond[d - 1]! - 2n, most(even, 2n * BigInt(reach + 1 - d))));
  }
  beyond.push(0n);
  const weights = Array<bigint>(2 * reach + 2).fill(0n);
  for (let d = 0; d <= reach; d++) {
    // of a pair of levels, the rarer gets the least number l of the s words for which ((s - l)/l)^2 <= E
    const pair = beyond[d]! - beyond[d + 1]!;
    let rare = most(1n, (pair * q) / (one + q));
    while ((pair - rare) ** 2n * MODULUS > bound * rare ** 2n) rare++;
    weights[reach - d] = pair - rare;
    weights[reach + 1 + d] = rare;
  }
  return weights;
}

/** floor(sqrt(number)), by Newton's method from above. */
function root(number: bigint): bigint {
  let found = 1n << BigInt((number.toString(2).length + 1) >> 1);
  for (let next = found; ; found = next) {
    next = (found + number / found) >> 1n;
    if (next >= found) return found;
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
