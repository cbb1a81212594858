// What the TypeScript client does in single situations: a list of names of cases on standard output, with what happened.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Client, inMemory, DeniableError } = await import(pathToFileURL(`${process.argv[2]}/index.js`));
const { all } = await import(pathToFileURL(`${process.argv[2]}/all.js`));
const { documents } = JSON.parse(readFileSync(0, "utf8"));
const URL_ = "https://collector.example";
const sent = [];
let answer = () => [200, { accepted: 1 }];
let form = documents.small;
globalThis.fetch = async (url, { method = "GET", body } = {}) => {
  if (String(url).includes("/v1/forms/")) return new Response(JSON.stringify(form));
  sent.push(method === "POST" ? Buffer.from(body).subarray(60, 76).toString("hex") : `${method} ${url}`);
  const [status, said] = answer(method);
  return new Response(typeof said === "string" ? said : JSON.stringify(said), { status });
};
const device = (more = {}) =>
  new Client({ url: URL_, key: `dnw_${"A".repeat(22)}`, collection: "survey", mechanisms: all, store: inMemory(), delay: 1e9, ...more });
const refused = async (promise) => {
  try {
    await promise;
    return "";
  } catch (error) {
    if (!(error instanceof DeniableError)) throw error;
    return error.code;
  }
};
const ready = async (more) => {
  const client = device(more);
  await client.consent(true);
  await client.answer("yes");
  return client;
};

const cases = {
  async "a page of somebody else is no answer"() {
    const kinds = [];
    for (const said of ["<html>please sign in", { ok: true }, { accepted: 2 }]) {
      answer = () => [200, said];
      kinds.push((await (await ready()).send(true)).fate);
    }
    return kinds;
  },
  async "refusals by others and of settings leave the report waiting"() {
    const fates = [];
    for (const [status, said] of [[403, "forbidden"], [404, {}], [401, { kind: "unknown-key", code: 401 }], [503, { kind: "storage", code: 503 }]]) {
      answer = () => [status, said];
      fates.push((await (await ready()).send(true)).fate);
    }
    return fates;
  },
  async "final refusals end it"() {
    const fates = [];
    for (const [status, kind] of [[410, "too-old"], [400, "bad-payload"], [409, "closed"]]) {
      answer = () => [status, { kind, code: status }];
      fates.push((await (await ready()).send(true)).fate);
    }
    return fates;
  },
  async "without consent nothing is sent"() {
    const client = await ready();
    sent.length = 0;
    await client.consent(false);
    await client.send(true);
    return [sent.length, (await client.kept()).fate];
  },
  async "what was never sent is forgotten without a request"() {
    const client = await ready();
    sent.length = 0;
    const kept = await client.forget();
    return [sent.length, kept.fate, kept.kind, kept.frame];
  },
  async "what may have arrived is deleted until the collector answers"() {
    const client = await ready();
    answer = () => [503, { kind: "busy", code: 503 }];
    await client.send(true);
    const first = (await client.forget()).fate;
    answer = () => [200, { outcome: "counted" }];
    const kept = await client.send(true);
    return [first, kept.fate, kept.kind, await client.explain()];
  },
  async "a larger epsilon costs the difference, under the cap"() {
    const store = inMemory();
    let pages = 0;
    const torn = { change: (does) => (++pages > 2 ? new Promise(() => {}) : store.change(does)) };
    const first = device({ store: torn, cap: 2 });
    void first;
    await store.change((state) => {
      state.consents = { [`${URL_} survey`]: true };
      state.spent = 0.5;
      state.answers = { [`${URL_} survey`]: { fate: "drawing", epsilon: 0.5, fingerprint: "", url: URL_ } };
    });
    form = documents.large; // epsilon 8
    const code = await refused(device({ store, cap: 2 }).answer("yes"));
    const client = device({ store, cap: 10 });
    const given = await client.answer("yes");
    form = documents.small;
    return [code, given.fresh, await client.spent(), (await client.kept()).epsilon];
  },
  async "forms of another collection or past their date are refused"() {
    const codes = [];
    for (const name of ["other", "old", "small"]) {
      form = documents[name];
      const client = device();
      await client.consent(true);
      codes.push(await refused(client.answer("yes")));
    }
    return codes;
  },
  async "consent for one question is none for another"() {
    const store = inMemory();
    await device({ store }).consent(true);
    form = documents.other;
    const code = await refused(device({ store, collection: "other" }).answer("yes"));
    form = documents.small;
    return code;
  },
  async "bounds are rounded up"() {
    return (await ready()).explain();
  },
};

const found = {};
for (const [name, does] of Object.entries(cases)) {
  answer = () => [200, { accepted: 1 }];
  found[name] = await does();
}
process.stdout.write(JSON.stringify(found));
process.exit(0);
