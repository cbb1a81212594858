// Public hash functions that all clients share: strings to numbers, numbers to buckets, permutations of indices.

import type { Index } from "../core/domain.js";
import { product } from "../randomness/words.js";
import { blake2s } from "./blake2s.js";

const PRIME = (1n << 61n) - 1n;
const ROUNDS = 16;

/** The digest of bytes under a domain's key: a number below 2^61 - 1. */
export function digest(bytes: Uint8Array, key: Uint8Array): bigint {
  return new DataView(blake2s(bytes, key, 8).buffer).getBigUint64(0, true) % PRIME;
}

/** Bytes of one function, from BLAKE2s of its purpose, number and a block number under the seed. */
function drawn(purpose: string, seed: number, number: number, size: number): DataView {
  const bytes = new Uint8Array(size);
  const key = new DataView(new ArrayBuffer(8));
  key.setUint32(0, seed, true);
  for (let block = 0; 32 * block < size; block++) {
    const data = new Uint8Array([...new TextEncoder().encode(purpose), ...new Uint8Array(8)]);
    const numbers = new DataView(data.buffer, purpose.length);
    numbers.setUint32(0, number, true);
    numbers.setUint32(4, block, true);
    bytes.set(blake2s(data, new Uint8Array(key.buffer), 32).subarray(0, size - 32 * block), 32 * block);
  }
  return new DataView(bytes.buffer);
}

/** The bucket of a number under one affine function: floor(m ((a d + b) mod P) / 2^61). */
export function hashed(seed: number, number: number, index: Index, buckets: number): number {
  const words = drawn("affine", seed, number, 16);
  const a = (words.getBigUint64(0, true) % (PRIME - 1n)) + 1n;
  const b = words.getBigUint64(8, true) % PRIME;
  // d + P in place of d, so that a small index has as many digits as any other
  return Number((((a * (BigInt(index) + PRIME) + b) % PRIME) * BigInt(buckets)) >> 61n);
}

/** The image of an index under one permutation of 0..size-1: swap-or-not, all of whose steps are the same. */
export function permuted(seed: number, number: number, index: number, size: number): number {
  const words = drawn("permutation", seed, number, 8 * ROUNDS);
  for (let round = 0; round < ROUNDS; round++) {
    const partner = product(words.getUint32(8 * round, true), 0, size)[0] - index; // the upper half of a 64-bit product
    const other = partner + size * +(partner < 0);
    // both partners test the larger of the two, and so make the same decision
    const larger = Math.max(index, other);
    const swap = mix((words.getUint32(8 * round + 4, true) ^ larger) >>> 0) >>> 31;
    index = index + (other - index) * swap;
  }
  return index;
}

/** The 32-bit finaliser of MurmurHash3 (Appleby 2011): every output bit depends on every input bit. */
function mix(word: number): number {
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}
