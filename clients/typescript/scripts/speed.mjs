// Times reports at k = 22,000: the answer of a device, from a fresh key to the bytes to send; and two ways to compare
// words.
//
// The specs are lines of a file, which `python -m benchmarks.client_specs` writes. Best of several runs.

import { readFileSync } from "node:fs";
import { Question } from "../dist/index.js";
import { all } from "../dist/all.js";
import { less, product, word } from "../dist/randomness/words.js";

const best = async (runs, act) => {
  let least = Infinity;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await act();
    least = Math.min(least, performance.now() - start);
  }
  return least;
};

console.log(
  "milliseconds".padEnd(16),
  "read spec".padStart(10),
  "first".padStart(10),
  "later".padStart(10),
  "   bytes",
);
for (const line of readFileSync(process.argv[2], "utf8").trim().split("\n")) {
  const reading = await best(5, () => Question.read(line, { mechanisms: all }));
  const question = await Question.read(line, { mechanisms: all });
  let payload;
  const answer = async () => (payload = await question.privatize(2));
  const first = await best(1, answer);
  const later = await best(60, answer);
  console.log(
    question.spec.mechanism.padEnd(16),
    ...[reading, first, later].map((each) => each.toFixed(3).padStart(10)),
    String(payload.length).padStart(8),
  );
}

const COUNT = 1 << 13; // what one call of getRandomValues gives
const words = new BigUint64Array(crypto.getRandomValues(new Uint8Array(8 * COUNT)).buffer);
const halves = new Uint32Array(words.buffer);
const threshold = 0x7612_3456_789a_bcden;
const split = word(threshold);
const counted = { halves: 0, bigint: 0 };
const compared = {
  "coins, halves": await best(500, () => {
    for (let i = (counted.halves = 0); i < COUNT; i++) counted.halves += less(halves[2 * i + 1], halves[2 * i], split);
  }),
  "coins, BigInt": await best(500, () => {
    for (let i = (counted.bigint = 0); i < COUNT; i++) counted.bigint += words[i] < threshold ? 1 : 0;
  }),
};
const drawn = { halves: 0, bigint: 0 };
compared["draws, halves"] = await best(500, () => {
  for (let i = (drawn.halves = 0); i < COUNT; i++) drawn.halves += product(halves[2 * i + 1], halves[2 * i], 22_003)[0];
});
compared["draws, BigInt"] = await best(500, () => {
  for (let i = (drawn.bigint = 0); i < COUNT; i++) drawn.bigint += Number((words[i] * 22_003n) >> 64n);
});
if (counted.halves !== counted.bigint || drawn.halves !== drawn.bigint) throw new Error("halves and BigInt disagree");
console.log("\nnanoseconds per word");
for (const [what, time] of Object.entries(compared))
  console.log(what.padEnd(16), ((time / COUNT) * 1e6).toFixed(1).padStart(10));
