// Number theory of small numbers, below 2^32.

import { times } from "./randomness/words.js";

/** base^exponent mod m, by 32 steps that are the same for every exponent. */
export function power(base: number, exponent: number, m: number): number {
  let found = 1 % m;
  for (let bit = 31; bit >= 0; bit--) {
    const square = times(found, found, m);
    const more = times(square, base, m);
    const taken = (exponent >>> bit) & 1;
    found = square * (1 - taken) + more * taken;
  }
  return found;
}

/** The prime factors of a number, each as often as it divides, in rising order. */
export function factors(number: number): number[] {
  const found: number[] = [];
  for (let divisor = 2; divisor * divisor <= number; divisor++)
    for (; number % divisor === 0; number /= divisor) found.push(divisor);
  return number > 1 ? [...found, number] : found;
}

/** Whether a number is prime. */
export function isPrime(number: number): boolean {
  return factors(number).length === 1;
}

/** The least generator of the numbers modulo a prime. */
export function primitiveRoot(prime: number): number {
  const parts = [...new Set(factors(prime - 1))];
  for (let root = 1; ; root++) if (parts.every((part) => power(root, (prime - 1) / part, prime) !== 1)) return root;
}

/** 1 if a number below 2^32 has an odd number of ones, else 0. */
export function parity(number: number): number {
  for (let shift = 16; shift; shift >>= 1) number ^= number >>> shift;
  return number & 1;
}
