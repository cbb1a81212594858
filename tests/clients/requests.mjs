// How the TypeScript client asks: what its requests carry, when it asks again, and how it tells who has answered.

import { collector, device, inMemory, lost, ready, refusal, refused, run } from "./world.mjs";

const asked = []; // what goes with each request
const carry = globalThis.fetch;
globalThis.fetch = (url, options = {}) => {
  asked.push([options.method ?? "GET", options]);
  return carry(url, options);
};

/** Milliseconds until the next attempt, after so many that nobody answered. */
const pauses = async (client, attempts) => {
  const found = [];
  for (let attempt = 0; attempt < attempts; attempt++) found.push((await client.send(true)).next - Date.now());
  return found;
};

const cases = {
  async "no request carries cookies or follows a redirect"() {
    const client = await ready();
    await client.send(true);
    await client.forget();
    return [asked.map(([method]) => method), asked.every(([, options]) => options.credentials === "omit" && options.redirect === "error")];
  },
  async "a report outlives its page, unless browsers would not carry it"() {
    const store = inMemory();
    const client = await ready({ store });
    await client.send(true);
    await store.change(({ answers }) => Object.assign(Object.values(answers)[0], { fate: "queued", frame: "00".repeat(70_000) }));
    await client.send(true);
    return asked.filter(([method]) => method === "POST").map(([, { keepalive }]) => keepalive);
  },
  async "pauses grow twofold up to an hour, and no two devices keep the same"() {
    const now = Date.now();
    const genuine = Date.now;
    Date.now = () => now;
    collector.answer = lost;
    const [first, second] = [await pauses(await ready(), 12), await pauses(await ready(), 12)];
    Date.now = genuine;
    const most = first.map((_, failures) => Math.min(3_600_000, 5_000 * 2 ** (failures + 1)));
    const within = (found) => found.every((pause, place) => pause >= most[place] / 2 && pause <= most[place]);
    return [within(first), within(second), first.some((pause, place) => pause !== second[place])];
  },
  async "Retry-After is heeded whoever says it"() {
    const found = [];
    for (const [status, said] of [[503, "<html>maintenance"], [429, "<html>slower"], [503, { message: "no" }], [503, { kind: "busy", code: 503 }]]) {
      const client = await ready();
      collector.answer = () => [status, said, { "retry-after": "3600" }];
      const { fate, next, unanswered } = await client.send(true);
      found.push([fate, next - Date.now() > 3_500_000, unanswered]);
      collector.answer = () => [status, said, { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }];
      found.push((await client.send(true)).next - Date.now() < 60_000);
    }
    return found;
  },
  async "a deletion heeds Retry-After of a proxy too"() {
    const client = await ready();
    await client.send(true);
    collector.answer = () => [503, "<html>maintenance", { "retry-after": "3600" }];
    const { fate, next } = await client.forget();
    return [fate, next - Date.now() > 3_500_000];
  },
  async "a collection that is not there is told from a collector that does not answer"() {
    const codes = [];
    for (const [status, said] of [[404, { kind: "not-found", code: 404 }], [404, "<html>not found"], [404, {}], [503, { kind: "busy", code: 503 }]]) {
      globalThis.fetch = async () => new Response(typeof said === "string" ? said : JSON.stringify(said), { status });
      const client = device();
      await client.consent(true);
      codes.push(await refused(client.answer("yes")));
    }
    return codes;
  },
};

await run(cases, () => (asked.length = 0));
