// Random schedules of tabs that are closed, networks that fail and servers that restart, against the TypeScript client.
//
// usage: node schedules.mjs BUILT SEED COUNT; reads a line, {"documents": ..., "epsilon": ..., "keys": ...}, and prints
// what went wrong as a line of JSON. Time and timers are simulated; a closed tab is a client whose promises are never
// kept again. The collector is one in memory, or the real one at "url": then it prints "restart" now and then, and
// expects a line once that is done. With "until" it ends at the first fault.

import { pathToFileURL } from "node:url";
import { asker, collectorAt, collectorInMemory, random } from "./networks.mjs";

const built = (path) => import(pathToFileURL(`${process.argv[2]}/${path}`));
const { Client, inMemory, DeniableError } = await built("index.js");
const { all } = await built("all.js");
const [first, count] = process.argv.slice(3).map(Number);
const host = asker();
const { documents, epsilon, planted, url, keys, until } = JSON.parse(await host.next());
const NAMES = Object.keys(keys);
const ADDRESS = url ?? "https://collector.example";
const START = 1000 * Math.floor(url ? Date.now() / 1000 : 1_790_000_000);

const pause = setTimeout; // the real one: ciphers run in threads
const settle = async () => {
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 10; j++) await new Promise((done) => setImmediate(done));
    do await new Promise((done) => pause(done, 1));
    while (pending());
  }
};
let pending = () => 0; // requests to a real collector
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

const under = (chance, share) => chance() < share;

/** A tab: a client for each question. It ends when it is closed, and often right after the record was kept. */
function opened(world, store) {
  const { chance } = world;
  const tab = { alive: true };
  const guarded = {
    change: async (does) => {
      if (!tab.alive) return never();
      const found = await store.change(does);
      if (!world.healthy && under(chance, 0.05)) tab.alive = false;
      return tab.alive ? found : never();
    },
  };
  const options = { url: ADDRESS, mechanisms: all, store: guarded, delay: 60_000 };
  tab.questions = NAMES.map((collection) => new Client({ ...options, key: keys[collection], collection }));
  return tab;
}

function failed(error) {
  if (!(error instanceof DeniableError) || !["consent", "offline", "clock"].includes(error.code)) throw error;
}

/** One step of whatever people, networks and clocks do. */
function step(world, tab) {
  const { chance, answered, takenBack } = world;
  const name = NAMES[Math.floor(chance() * NAMES.length)];
  const client = tab.questions[NAMES.indexOf(name)];
  const act = chance();
  if (act < 0.2) client.consent(true).catch(failed);
  else if (act < 0.55) {
    const value = ["yes", "no"][Math.floor(chance() * 2)];
    client.answer(value).then(({ fresh }) => fresh && answered.add(name), failed);
  } else if (act < 0.65) client.send(under(chance, 0.5)).catch(failed);
  else if (act < 0.68) {
    takenBack.add(name); // it may be written down, though nobody hears of it
    world.forgets += 1;
    client.forget().catch(failed);
  } else if (act < 0.75) tab.alive = false;
  else {
    clock += chance() * (!url && under(chance, 0.1) ? 20 * 86_400_000 : 200_000); // rarely past the window
    for (const timer of timers.filter((each) => each.at <= clock)) {
      timers = timers.filter((each) => each !== timer);
      timer.does();
    }
  }
}

/** What is wrong with what is kept of a question, and with what arrived of it. */
async function faultsOf(world, name, client) {
  const found = await client.kept();
  const { ids, deleted, late, refused } = world.collector.seen(keys[name]);
  const faults = [];
  const fault = (text) => faults.push(`${name}: ${text}`);
  if (ids.length > 1) fault(`${ids.length} reports arrived`);
  if (!found) {
    if (world.answered.has(name)) fault("it was answered, and nothing is kept");
    if (ids.length) fault("a report arrived, and nothing is kept");
    return { faults, found };
  }
  const arrived = ids.includes(found.id);
  if (ids.length && !arrived) fault("another report arrived than the one that is kept");
  if (found.fate === "sent" && !arrived) fault("it is said to be sent, and never arrived");
  if (found.kind === "forgotten" && arrived) fault("it is said never to have left, and arrived");
  const stays = arrived && !deleted.includes(found.id);
  if (found.frame === "" && stays && !["counted", "gone"].includes(found.kind)) fault(`it is ${found.kind}, and counted`);
  if (!found.frame && found.frame !== undefined && !world.takenBack.has(name)) fault("it is gone, and nobody took it back");
  const given = { expired: late, refused }[found.fate]; // who was given up for a reason
  if (found.frame && given && !given.includes(found.id)) fault(`it is ${found.fate}, and the collector never said so`);
  if (found.frame && given && arrived && !found.unanswered) fault("it is said not to be counted, and is");
  const ended = found.fate === "drawing" ? !world.answered.has(name) : found.fate === "sent" || given;
  if (!ended) fault(`it is ${found.fate} though the network is well`);
  return { faults, found };
}

async function schedule(seed) {
  const chance = random(seed);
  clock = START;
  timers = [];
  const world = { chance, healthy: false, answered: new Set(), takenBack: new Set(), forgets: 0 };
  const given = { documents, now: () => clock, healthy: () => world.healthy, chance };
  world.collector = url ? collectorAt(given) : collectorInMemory(given);
  ({ network, pending } = world.collector);
  const kept = inMemory();
  const open = () => opened(world, planted === "forgets" ? inMemory() : kept);
  const tabs = [open()]; // all tabs, which end with their schedule
  await settle();
  let restarted;
  for (let at = 0; at < 25; at++) {
    const alive = tabs.filter((tab) => tab.alive);
    if (!alive.length || under(chance, 0.15)) alive.push(tabs[tabs.push(open()) - 1]);
    step(world, alive[Math.floor(chance() * alive.length)]);
    if (url && under(chance, 0.006)) restarted = host.ask("restart");
    if (under(chance, 0.7)) await settle();
  }
  for (const tab of tabs) tab.alive = false; // all are closed, whatever they were doing
  await restarted;
  await settle();
  world.healthy = true;
  const last = tabs[tabs.push(open()) - 1];
  await settle();
  const result = { faults: [], answered: 0, arrived: 0, kept: 0, late: 0 };
  for (const [at, name] of NAMES.entries()) {
    const client = last.questions[at];
    await client.consent(true);
    for (let round = 0; round < 3; round++) {
      clock += 4e6;
      await client.send(true);
      await settle();
    }
    const { faults, found } = await faultsOf(world, name, client);
    result.faults.push(...faults.map((fault) => `schedule ${seed}, ${fault}`));
    if (found) result.answered += 1;
    const { ids, deleted, late } = world.collector.seen(keys[name]);
    result.arrived += ids.length;
    result.late += late.length;
    result.kept += ids.filter((id) => !deleted.includes(id)).length;
  }
  const spent = await last.questions[0].spent();
  if (spent < result.answered * epsilon - 1e-9) result.faults.push(`schedule ${seed}: spent only ${spent}`);
  const most = (result.answered + world.forgets) * epsilon; // what was taken back while it was drawn costs again
  if (spent > most + 1e-9) result.faults.push(`schedule ${seed}: spent ${spent} for ${result.answered} answers`);
  for (const tab of tabs) tab.alive = false;
  await settle();
  return result;
}

const totals = { schedules: 0, answered: 0, arrived: 0, kept: 0, late: 0, faults: [] };
for (let seed = first; seed < first + count && !(until && totals.faults.length); seed++) {
  const { faults, ...numbers } = await schedule(seed);
  totals.schedules += 1;
  for (const [name, number] of Object.entries(numbers)) totals[name] += number;
  totals.faults.push(...faults);
}
process.stdout.write(`${JSON.stringify(totals)}\n`, () => process.exit(0));
