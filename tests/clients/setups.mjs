// What the TypeScript client refuses to be set up with: settings that would bound nothing, and stores that are barred.

import { pathToFileURL } from "node:url";
import { device, DeniableError, documents, inMemory, refused, run, sent } from "./world.mjs";

const { webStorage, Question } = await import(pathToFileURL(`${process.argv[2]}/index.js`));
const settings = (more) => refused((async () => void device(more))());

const cases = {
  async "a cap that bounds nothing is refused"() {
    const codes = [];
    for (const cap of [NaN, "abc", "10", -1, Infinity, null]) codes.push(await settings({ cap }));
    return codes;
  },
  async "a delay that is none is refused"() {
    const codes = [];
    for (const delay of [NaN, "abc", "10", -5, Infinity, null]) codes.push(await settings({ delay }));
    return codes;
  },
  async "a ledger that cannot be added to spends nothing"() {
    const store = inMemory();
    await store.change((state) => void (state.spent = "much"));
    const client = device({ store });
    await client.consent(true);
    return [await refused(client.answer("yes")), sent.length];
  },
  async "a client without mechanisms says what it lacks"() {
    const client = device({ mechanisms: undefined });
    await client.consent(true);
    const error = await client.answer("yes").catch((found) => found);
    const spec = JSON.parse(documents.small.form).specs[0];
    return [error instanceof DeniableError, error.message, await refused(Question.read(spec, {})), await refused(Question.read(spec))];
  },
  async "storage that is barred is trouble with the store"() {
    const barred = () => {
      throw new DOMException("denied", "SecurityError");
    };
    Object.defineProperty(globalThis, "localStorage", { get: barred, configurable: true });
    const store = webStorage();
    const code = await refused(device({ store }).consent(true));
    delete globalThis.localStorage;
    return code;
  },
};

await run(cases);
