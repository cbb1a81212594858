// What the TypeScript client does with a report that it has made: what is final, what waits, what is said of it.

import { ADDRESS, collector, device, documents, inMemory, lost, ready, refusal, refused, run, sent, signals, soon } from "./world.mjs";

const cases = {
  async "a page of somebody else is no answer"() {
    const kinds = [];
    for (const said of ["<html>please sign in", { ok: true }, { accepted: 2 }]) {
      collector.answer = () => [200, said];
      kinds.push((await (await ready()).send(true)).fate);
    }
    return kinds;
  },
  async "refusals by others and of settings leave the report waiting"() {
    const fates = [];
    for (const [status, said] of [[403, "forbidden"], [404, {}], [401, { kind: "unknown-key", code: 401 }], [503, { kind: "storage", code: 503 }]]) {
      collector.answer = () => [status, said];
      fates.push((await (await ready()).send(true)).fate);
    }
    return fates;
  },
  async "final refusals end it"() {
    const fates = [];
    for (const [status, kind] of [[410, "too-old"], [400, "bad-payload"], [409, "closed"]]) {
      collector.answer = () => [status, { kind, code: status }];
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
    collector.answer = () => [503, { kind: "busy", code: 503 }];
    await client.send(true);
    const first = (await client.forget()).fate;
    collector.answer = () => [200, { outcome: "counted" }];
    const kept = await client.send(true);
    return [first, kept.fate, kept.kind, await client.explain()];
  },
  async "a report that was lost and then refused may have been counted"() {
    const found = [];
    for (const [status, kind] of [[409, "closed"], [410, "too-old"]]) {
      const client = await ready();
      collector.answer = lost;
      await client.send(true);
      collector.answer = refusal(status, kind);
      const { fate } = await client.send(true);
      const words = await client.explain();
      sent.length = 0;
      collector.answer = refusal(410, "too-old");
      const { kind: end } = await client.forget();
      found.push([fate, words, sent.length, end, await client.explain()]);
    }
    return found;
  },
  async "an attempt that never ended may have been counted"() {
    const client = await ready();
    collector.answer = () => new Promise(() => {}); // the tab is closed meanwhile
    void client.send(true);
    await soon(() => sent.length);
    collector.answer = refusal(409, "closed");
    const store = inMemory();
    const state = { consents: { [`${ADDRESS} survey`]: true }, answers: { [`${ADDRESS} survey`]: await client.kept() } };
    await store.change((empty) => void Object.assign(empty, state));
    const next = device({ store });
    const { fate } = await next.send(true);
    return [fate, await next.explain()];
  },
  async "a report that was refused at once was not counted"() {
    const found = [];
    for (const [status, kind] of [[409, "closed"], [410, "too-old"]]) {
      const client = await ready();
      collector.answer = refusal(429, "rate"); // which says that it was not taken
      await client.send(true);
      collector.answer = refusal(status, kind);
      await client.send(true);
      const words = await client.explain();
      sent.length = 0;
      await client.forget();
      found.push([words, sent.length, await client.explain()]);
    }
    return found;
  },
  async "what the collector no longer remembers is not called deleted"() {
    const found = [];
    for (const [status, kind] of [[410, "too-old"], [404, "no-such-report"]]) {
      const client = await ready();
      await client.send(true);
      collector.answer = refusal(status, kind);
      await client.forget();
      found.push([(await client.kept()).kind, await client.explain()]);
      collector.answer = () => [200, { accepted: 1 }];
    }
    return found;
  },
  async "an acknowledgement outweighs the refusal of another attempt"() {
    const store = inMemory();
    const tabs = [await ready({ store }), device({ store })];
    let acknowledge;
    collector.answer = () => new Promise((done) => (acknowledge = () => done([200, { accepted: 1 }])));
    const first = tabs[0].send(true);
    await soon(() => acknowledge);
    collector.answer = refusal(409, "closed");
    const { fate } = await tabs[1].send(true);
    acknowledge();
    return [fate, (await first).fate];
  },
  async "two tabs send a report once"() {
    const store = inMemory();
    const tabs = [await ready({ store, delay: 0 }), device({ store })];
    collector.answer = () => new Promise(() => {});
    await soon(() => sent.length);
    await tabs[1].send();
    return sent.length;
  },
  async "no Retry-After makes it wait for ever"() {
    const client = await ready();
    collector.answer = () => [503, { kind: "busy", code: 503 }, { "retry-after": "9999999999" }];
    const { next } = await client.send(true);
    return next - Date.now() <= 86_400_000 && next - Date.now() > 80_000_000;
  },
  async "a clock that was ahead does not keep a report for days"() {
    const client = await ready({ delay: 0 });
    const genuine = Date.now;
    Date.now = () => genuine() + 864e6;
    collector.answer = lost;
    await client.send(true);
    Date.now = genuine;
    collector.answer = () => [200, { accepted: 1 }];
    return (await client.send()).fate;
  },
  async "an answer that is no object leaves the report waiting"() {
    const client = await ready();
    collector.answer = () => [200, "null"];
    return (await client.send(true)).fate;
  },
  async "every request ends in time"() {
    const genuine = AbortSignal.timeout;
    const client = await ready();
    await client.send(true);
    collector.answer = refusal(404, "no-such-report");
    await client.forget();
    collector.form = documents.issued;
    collector.answer = () => [200, { ids: ["00".repeat(16)], bucket: 0 }];
    await ready();
    const able = [signals.length > 4, signals.every(Boolean)]; // form, POST, DELETE, form, ids
    AbortSignal.timeout = () => AbortSignal.abort();
    const slow = device();
    await slow.consent(true);
    const code = await refused(slow.answer("yes"));
    AbortSignal.timeout = genuine;
    return [...able, code];
  },
  async "bounds are rounded up"() {
    const found = {};
    for (const [name, form] of Object.entries(documents.bounds)) {
      collector.form = form;
      found[name] = await (await ready()).explain();
    }
    return found;
  },
  async "what is sent is shown"() {
    const client = await ready();
    return [await client.explain(), await client.kept()];
  },
};

await run(cases);
