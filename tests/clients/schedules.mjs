// Random schedules of tabs that are closed, networks that fail and servers that restart, against the TypeScript client.
//
// usage: node schedules.mjs BUILT SEED COUNT < {"spec": ..., "form": ...}; prints what went wrong, one line of JSON each.
// Time, timers and the network are simulated; a closed tab is a client whose promises are never kept again.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const built = (path) => import(pathToFileURL(`${process.argv[2]}/${path}`));
const { Client, inMemory, DeniableError } = await built("index.js");
const { all } = await built("all.js");
const [first, count] = process.argv.slice(3).map(Number);
const { documents, epsilon, planted } = JSON.parse(readFileSync(0, "utf8"));

const pause = setTimeout; // the real one: ciphers run in threads
const settle = async () => {
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 10; j++) await new Promise((done) => setImmediate(done));
    await new Promise((done) => pause(done, 1));
  }
};
let clock = 0;
let timers = [];
let network;
Date.now = () => clock;
globalThis.setTimeout = (does, wait) => {
  const timer = { at: clock + (wait || 0), does };
  timers.push(timer);
  return timer;
};
globalThis.clearTimeout = (timer) => {
  timers = timers.filter((each) => each !== timer);
};
globalThis.fetch = (url, options) => network(String(url), options ?? {});
const never = () => new Promise(() => {});

function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function schedule(seed) {
  const chance = random(seed);
  const under = (share) => chance() < share;
  clock = 1000 * 1_790_000_000;
  timers = [];
  const counted = new Map(); // id -> times that the server added it
  const deleted = new Set(); // ids that are not to be counted
  const bodies = new Map(); // id -> the bytes that came with it
  let healthy = false;
  let again = 0;
  const answerOf = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers });
  network = async (url, { method = "GET", body }) => {
    const lost = !healthy && under(0.35);
    if (lost && under(0.5)) throw new TypeError("network");
    if (url.includes("/v1/forms/")) {
      if (lost) throw new TypeError("network");
      return answerOf(200, documents[url.split("/").at(-1)]);
    }
    if (method === "DELETE") {
      const id = url.split("/").at(-1).split("?")[0];
      const known = counted.has(id);
      deleted.add(id); // also of a report that is still on its way
      return known ? answerOf(200, { outcome: "deleted" }) : answerOf(404, { kind: "no-such-report", code: 404 });
    }
    if (!healthy && under(0.15)) {
      const status = under(0.5) ? 503 : 429;
      return answerOf(status, under(0.2) ? "maintenance" : { kind: "busy", code: status }, under(0.5) ? { "retry-after": "7" } : {});
    }
    if (!healthy && under(0.05)) return answerOf(200, "please sign in to this network");
    const frame = Buffer.from(body);
    const id = frame.subarray(60, 76).toString("hex");
    if (!counted.has(id)) counted.set(id, 1);
    if (bodies.has(id) && bodies.get(id) !== frame.toString("hex")) throw new Error(`other bytes under the id ${id}`);
    bodies.set(id, frame.toString("hex"));
    if (lost) throw new TypeError("the answer was lost");
    return answerOf(200, { accepted: 1 });
  };
  const kept = inMemory();
  const broken = planted === "forgets" ? () => inMemory() : () => kept;
  const opened = []; // all tabs, which end with their schedule
  const open = () => {
    const tab = { alive: true };
    opened.push(tab);
    const store = broken();
    const guarded = {
      change: async (does) => {
        if (!tab.alive) return never();
        const found = await store.change(does);
        if (!healthy && under(0.05)) tab.alive = false; // closed right after the record was kept
        return tab.alive ? found : never();
      },
    };
    const questions = ["first", "second"].map((collection) => new Client({ url: "https://collector.example", key: `dnw_${"A".repeat(22)}`, collection, mechanisms: all, store: guarded, delay: 60_000 }));
    return Object.assign(tab, { questions });
  };
  let tabs = [open()];
  await settle();
  const given = new Set();
  const withdrawn = new Set();
  for (let step = 0; step < 25; step++) {
    tabs = tabs.filter((tab) => tab.alive);
    if (!tabs.length || under(0.15)) tabs.push(open());
    const tab = tabs[Math.floor(chance() * tabs.length)];
    const which = under(0.5) ? 0 : 1;
    const client = tab.questions[which];
    const act = chance();
    const failed = (error) => {
      if (!(error instanceof DeniableError) || !["consent", "offline"].includes(error.code)) throw error;
    };
    if (act < 0.2) client.consent(true).catch(failed);
    else if (act < 0.55) client.answer(["yes", "no"][Math.floor(chance() * 2)]).then(() => given.add(which), failed);
    else if (act < 0.65) client.send(under(0.5)).catch(failed);
    else if (act < 0.68) client.forget().then((kept) => kept?.frame === "" && withdrawn.add(which), failed);
    else if (act < 0.75) tab.alive = false;
    else {
      clock += chance() * 200_000;
      for (const timer of timers.filter((each) => each.at <= clock)) {
        timers = timers.filter((each) => each !== timer);
        timer.does();
      }
    }
    if (under(0.7)) await settle();
  }
  for (const tab of opened) tab.alive = false; // all are closed, whatever they were doing
  await settle();
  healthy = true;
  const last = open();
  await settle();
  const faults = [];
  let answered = 0;
  for (const [which, client] of last.questions.entries()) {
    await client.consent(true);
    const before = await client.kept();
    if (before?.kind === "forgotten" && counted.has(before.id)) faults.push(`question ${which} was taken back, and arrived`);
    for (let round = 0; round < 3; round++) {
      clock += 4e6;
      await client.send(true);
      await settle();
    }
    const found = await client.kept();
    if (withdrawn.has(which) && found?.id && counted.has(found.id) && !deleted.has(found.id)) faults.push(`question ${which} stays, though taken back`);
    if (given.has(which) && found && found.fate !== "sent" && !withdrawn.has(which) && found.fate !== "expired") faults.push(`question ${which} was answered and is ${found?.fate}`);
    if (found?.fate === "sent" && !counted.has(found.id)) faults.push(`question ${which} is said to be sent, and never arrived`);
    if (found) answered += 1;
  }
  const spent = await last.questions[0].spent();
  if (Math.abs(spent - answered * epsilon) > 1e-9) faults.push(`spent ${spent} for ${answered} answers`);
  const arrived = [...counted.keys()].length;
  if (arrived > answered) faults.push(`${arrived} reports arrived for ${answered} answers`);
  for (const tab of opened) tab.alive = false;
  await settle();
  return { seed, faults, answered, arrived };
}

const totals = { schedules: 0, answered: 0, arrived: 0, faults: [] };
for (let seed = first; seed < first + count; seed++) {
  const { faults, answered, arrived } = await schedule(seed);
  totals.schedules += 1;
  totals.answered += answered;
  totals.arrived += arrived;
  totals.faults.push(...faults.map((fault) => `schedule ${seed}: ${fault}`));
}
process.stdout.write(JSON.stringify(totals));
process.exit(0);
