// Singer difference sets: the hyperplanes of a projective geometry as the shifts of one set modulo K.
//
// For q = p^m a number i < K lies in the set when m terms of one p-ary linear recurrence vanish: b_i, b_(i+K), ...

import { limit, must, whole, wholes, type Members } from "../core/check.js";
import { factors } from "../numbers.js";

/** (q^t - 1)/(q - 1): the number of points of PG(t-1, q). */
export function points(q: number, t: number): number {
  let found = 0;
  for (let i = 0; i < t; i++) found = found * q + 1;
  return found;
}

/** A geometry: the number K of its points, the size of a hyperplane, and all points, one hyperplane first. */
export interface Geometry {
  readonly modulus: number;
  readonly size: number;
  readonly elements: Uint32Array;
}

/** The geometry that parameters name by q, t and the polynomial that numbers its points. */
export function geometry(parameters: Members): Geometry {
  const q = whole("q", parameters.q, 2, 2 ** 31);
  const t = whole("t", parameters.t, 2, 31);
  const parts = factors(q);
  const [p, m] = [parts[0]!, parts.length];
  must(
    parts.every((part) => part === p),
    "q",
    "be a prime power",
  );
  const [modulus, size] = [points(q, t), points(q, t - 1)];
  limit("points", modulus, 2 ** 22);
  const polynomial = wholes("polynomial", parameters.polynomial, 0, p - 1);
  must(polynomial.length === (t > 2 ? m * t : 0), "polynomial", "have a coefficient for each power, or none on a line");

  const inside =
    t > 2 ? vanishing(polynomial, p, m, modulus) : Uint8Array.from({ length: modulus }, (_, i) => +(i === 0));
  const elements = new Uint32Array(modulus);
  let [first, second] = [0, size];
  // a set of another size would break the guarantee: only a primitive polynomial gives a hyperplane
  for (let i = 0; i < modulus; i++) elements[inside[i] ? first++ : second++] = i;
  must(first === size, "polynomial", "be primitive");
  return { modulus, size, elements };
}

/** For each i < K, whether b_i = b_(i+K) = ... = b_(i+(m-1)K) = 0; b_i is the last coefficient of x^i. */
function vanishing(polynomial: readonly number[], p: number, m: number, modulus: number): Uint8Array {
  const degree = polynomial.length;
  const taps = polynomial.flatMap((coefficient, place) => (coefficient ? [[place, p - coefficient] as const] : []));
  limit("steps of a recurrence", m * modulus * taps.length, 2 ** 28);
  const inside = new Uint8Array(modulus).fill(1);
  const last = new Array<number>(degree).fill(0); // the terms before, that of n at place n mod d
  last[degree - 1] = 1;
  for (let n = 0, i = 0, at = 0; n < m * modulus; n++) {
    inside[i]! &= +(last[at] === 0);
    let next = 0; // b_(n+d) = -sum of c_j b_(n+j)
    for (const [place, factor] of taps) next += factor * last[at + place < degree ? at + place : at + place - degree]!;
    last[at] = next % p;
    if (++at === degree) at = 0;
    if (++i === modulus) i = 0;
  }
  return inside;
}
