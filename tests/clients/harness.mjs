// Does what the tests ask of the TypeScript client: a list of tasks on standard input, a list of answers on standard
// output.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const built = (path) => import(pathToFileURL(`${process.argv[2]}/${path}`));
const { Question, DeniableError } = await built("index.js");
const { all } = await built("all.js");
const { HeavyHitters } = await built("heavy-hitters.js");
const { reportsFrom, reportFor, levelReportFrom } = await built("testing.js");
const { Choices } = await built("randomness/choices.js");
const { digest, hashed, permuted } = await built("hashing/functions.js");
const { codeBits } = await built("layouts/subsetCode.js");
const { exponentialBelow } = await built("core/bounds.js");

const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const hex = (found) => Buffer.from(found).toString("hex");
const plain = (value) => (value?.bytes === undefined ? value : bytes(value.bytes));
const source = (spec) => (spec.hex === undefined ? spec : bytes(spec.hex));
const mechanisms = (names) => (names ? all.filter(({ name }) => names.includes(name)) : all);
const read = (task) =>
  Question.read(source(task.spec), { mechanisms: mechanisms(task.mechanisms), fingerprint: task.fingerprint });

const answers = {
  async read(task) {
    const { fingerprint, epsilon, domain } = await read(task);
    return { fingerprint, epsilon, k: domain.k };
  },
  async reports(task) {
    return (await reportsFrom(await read(task), task.values.map(plain), bytes(task.key))).map(hex);
  },
  async under(task) {
    const question = await read(task);
    return Promise.all(
      task.values.map((value, at) =>
        reportFor(question, plain(value), bytes(task.ids[at]), bytes(task.keys[at])).then(hex),
      ),
    );
  },
  async words(task) {
    const { randomizer } = (await read(task)).spec;
    const view = (text) => new DataView(bytes(text).buffer);
    return task.words.map((own) => hex(randomizer.randomize(task.index, new Choices(view(own), view(task.overflow)))));
  },
  async fresh(task) {
    const question = await read(task);
    const drawn = [];
    const genuine = crypto.getRandomValues;
    crypto.getRandomValues = (array) => {
      const found = genuine.call(crypto, array);
      drawn.push(hex(found));
      return found;
    };
    try {
      const sent = [];
      for (const value of task.values) sent.push(hex(await question.privatize(plain(value))));
      return { sent, drawn };
    } finally {
      delete crypto.getRandomValues;
    }
  },
  async without(task) {
    const genuine = Object.getOwnPropertyDescriptor(globalThis, "crypto");
    const question = await read(task);
    const broken = {
      nothing: undefined,
      "no cipher": { getRandomValues() {} },
      "no source": { subtle: crypto.subtle },
    }[task.missing];
    Object.defineProperty(globalThis, "crypto", { value: broken, configurable: true });
    try {
      return await (task.reading ? read(task) : question.privatize(task.value));
    } finally {
      Object.defineProperty(globalThis, "crypto", genuine);
    }
  },
  async reads(task) {
    const { randomizer } = (await read(task)).spec;
    const words = bytes(task.words).buffer;
    return task.indices.map((index) => {
      let count = 0;
      const choices = new Choices(new DataView(words), new DataView(new ArrayBuffer(0)));
      const next = choices.next.bind(choices);
      choices.next = () => next(count++);
      randomizer.randomize(index, choices);
      return count;
    });
  },
  async levels(task) {
    const question = await HeavyHitters.read(source(task.spec), { mechanisms: all, fingerprint: task.fingerprint });
    const found = [];
    for (const [at, value] of task.values.entries()) {
      const { level, payload } = await levelReportFrom(question, plain(value), ...task.keys[at].map(bytes));
      found.push([level, hex(payload)]);
    }
    return found;
  },
  async rejected(task) {
    // as if the first word of every public number were one that is rejected
    const genuine = crypto.subtle.digest;
    crypto.subtle.digest = async (name, data) => {
      const first = data.length === 32 + 16 + 4 && data.slice(48).every((byte) => byte === 0);
      return first ? new ArrayBuffer(32) : genuine.call(crypto.subtle, name, data);
    };
    try {
      const { coined } = (await read(task)).spec.randomizer;
      return await Promise.all(task.ids.map((id) => coined.publicOf(bytes(id))));
    } finally {
      delete crypto.subtle.digest;
    }
  },
  async choices(task) {
    const question = await read(task);
    return task.values.map((value) => String(question.domain.index(plain(value))));
  },
  async hashes({ digests, buckets, permutations }) {
    return {
      digests: digests.map(([data, key]) => String(digest(bytes(data), bytes(key)))),
      buckets: buckets.map(([seed, number, index, count]) => hashed(seed, number, BigInt(index), count)),
      permutations: permutations.map(([seed, number, index, size]) => permuted(seed, number, index, size)),
    };
  },
  async codes({ pairs }) {
    return pairs.map(([k, w]) => codeBits(k, w));
  },
  async bounds({ epsilons }) {
    return epsilons.map((epsilon) => String(exponentialBelow(epsilon)));
  },
};

const found = [];
for (const task of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    found.push({ answer: await answers[task.do](task) });
  } catch (error) {
    if (!(error instanceof DeniableError)) throw error;
    found.push({ code: error.code, message: error.message });
  }
}
process.stdout.write(JSON.stringify(found));
