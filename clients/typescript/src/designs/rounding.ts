// Rows of probabilities, read exactly, and the integer weights that run in their place.
//
// Rounding may lift a ratio above e^epsilon. The rows are then mixed with their mean, in the least part that brings all
// ratios back.

import { MODULUS, exact, type Fraction } from "../core/bounds.js";
import { must } from "../core/check.js";
import { refuse } from "../core/errors.js";

const FINE = 128n; // bits of the probabilities that are rounded

/** Integer weights with the sum 2^64 in every row, and ratios of at most `bound` / 2^64 in every column. */
export function rounded(matrix: readonly (readonly unknown[])[], bound: bigint): bigint[][] {
  const fine = matrix.map((row) => fineRow(row.map(entry)));
  const columns = fine[0]!.map((_, report) => fine.map((row) => row[report]!));
  must(
    fine.every((row) => row.every((each) => each > 0n)),
    "matrix",
    "have positive entries",
  );
  const mean = columns.map((column) => column.reduce((a, b) => a + b) / BigInt(fine.length));
  for (const [mixed, whole] of shares()) {
    const found = fine.map((row) =>
      roundedRow(row.map((each, report) => each * (whole - mixed) + mean[report]! * mixed)),
    );
    const fits = mean.every((_, report) => {
      const column = found.map((row) => row[report]!);
      const [low, high] = [column.reduce((a, b) => (b < a ? b : a)), column.reduce((a, b) => (b > a ? b : a))];
      return low > 0n && high * MODULUS <= low * bound;
    });
    if (fits) return found;
  }
  return refuse("spec", "matrix must have larger entries");
}

/** An entry as it is written: a number from 0 to 1, or a fraction such as "1/3". */
function entry(value: unknown): Fraction {
  const [, above, below] = /^(\d{1,400})\/(\d{1,400})$/.exec(String(value)) ?? [];
  const found: Fraction | undefined =
    typeof value === "number"
      ? exact(value)
      : typeof value === "string" && above && below
        ? [BigInt(above), BigInt(below)]
        : undefined;
  must(
    found && found[1] > 0n && found[0] >= 0n && found[0] <= found[1],
    "matrix",
    "have entries from 0 to 1, as numbers or fractions",
  );
  return found;
}

/** The row over its sum, rounded down to multiples of 2^-128. */
function fineRow(row: readonly Fraction[]): bigint[] {
  const [above, below] = row.reduce(sum, [0n, 1n]);
  must(above > 0n, "matrix", "have positive entries");
  return row.map(([numerator, denominator]) => ((numerator * below) << FINE) / (denominator * above));
}

function sum([a, b]: Fraction, [c, d]: Fraction): Fraction {
  const [above, below] = [a * d + c * b, b * d];
  const common = divisor(above, below);
  return [above / common, below / common];
}

function divisor(a: bigint, b: bigint): bigint {
  while (b) [a, b] = [b, a % b];
  return a || 1n;
}

/** Shares of the mean that are tried, least first: 0, then from 1/(4 M) up to the cube root of 1/M. */
function* shares(): Generator<readonly [mixed: bigint, whole: bigint]> {
  const whole = 16n * MODULUS;
  yield [0n, whole];
  for (let doubling = 0n; doubling < 45n; doubling++)
    for (const part of [4n, 5n, 6n, 7n]) yield [part << doubling, whole];
}

/** A row rounded to integers with the sum 2^64: down, then up where the most was cut off. */
function roundedRow(row: readonly bigint[]): bigint[] {
  const total = row.reduce((a, b) => a + b);
  const found = row.map((each) => (each * MODULUS) / total);
  const rests = row.map((each) => (each * MODULUS) % total);
  const order = row
    .map((_, report) => report)
    .sort((a, b) => (rests[a]! > rests[b]! ? -1 : rests[a]! < rests[b]! ? 1 : 0));
  const lacking = Number(MODULUS - found.reduce((a, b) => a + b));
  for (const report of order.slice(0, lacking)) found[report]!++;
  return found;
}
