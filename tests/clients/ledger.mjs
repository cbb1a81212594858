// What the TypeScript client does before there is a report: whom it believes, what it spends, what tabs tell each other.

import { ADDRESS, all, collector, device, documents, inMemory, lost, ready, refused, run, sent, soon } from "./world.mjs";

const leaving = []; // what a page does when it is left
const beacons = [];
globalThis.addEventListener = (event, does) => event === "pagehide" && leaving.push(does);
const asked = []; // whether the browser was asked to keep what is stored
const navigator = {
  sendBeacon: (url, body) => beacons.push([url, body.size]),
  storage: { persist: async () => asked.push(true) },
};
Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
const leave = () => {
  beacons.length = 0;
  for (const each of leaving) each();
  return beacons.length;
};

const mine = (state) => state.answers?.[`${ADDRESS} survey`] ?? {};

/** A device that has read its question, which it does by itself. */
const reader = async (more) => {
  let read;
  const done = new Promise((resolve, failed) => {
    read = resolve;
    setTimeout(() => failed(new Error("it does not read its question by itself")), 20_000).unref();
  });
  const build = (each, setting) => {
    setImmediate(read); // what is left to do then waits for nothing
    return each.build(setting);
  };
  const client = device({ ...more, mechanisms: all.map((each) => ({ ...each, build: (setting) => build(each, setting) })) });
  await done;
  return client;
};

const cases = {
  async "a larger epsilon costs the difference, under the cap"() {
    const store = inMemory();
    let pages = 0;
    const torn = { change: (does) => (++pages > 2 ? new Promise(() => {}) : store.change(does)) };
    const first = device({ store: torn, cap: 2 });
    void first;
    await store.change((state) => {
      state.consents = { [`${ADDRESS} survey`]: true };
      state.spent = 0.5;
      state.answers = { [`${ADDRESS} survey`]: { fate: "drawing", epsilon: 0.5, fingerprint: "", url: ADDRESS } };
    });
    collector.form = documents.large; // epsilon 8
    const code = await refused(device({ store, cap: 2 }).answer("yes"));
    const client = device({ store, cap: 10 });
    const given = await client.answer("yes");
    collector.form = documents.small;
    return [code, given.fresh, await client.spent(), (await client.kept()).epsilon];
  },
  async "forms of another collection or past their date are refused"() {
    const codes = [];
    for (const name of ["other", "old", "small"]) {
      collector.form = documents[name];
      const client = device();
      await client.consent(true);
      codes.push(await refused(client.answer("yes")));
    }
    return codes;
  },
  async "consent for one question is none for another"() {
    const store = inMemory();
    await device({ store }).consent(true);
    collector.form = documents.other;
    const code = await refused(device({ store, collection: "other" }).answer("yes"));
    collector.form = documents.small;
    return code;
  },
  async "a form that this program is too old for costs nothing"() {
    const found = [];
    for (const name of ["fortnights", "layout", "layout with more"]) {
      collector.form = documents[name];
      const client = device();
      await client.consent(true);
      found.push(await refused(client.answer("yes")), await client.spent());
    }
    return found;
  },
  async "what is no form is no answer"() {
    const found = [];
    for (const form of ["<html>please sign in", "null", "{}", '{"form": "{", "key": "00", "signature": "00"}', documents.garbage]) {
      collector.form = form;
      const client = device();
      await client.consent(true);
      found.push(await refused(client.answer("yes")));
    }
    return found;
  },
  async "ids that are none are no answer"() {
    collector.form = documents.issued;
    const found = [];
    for (const said of ["<html>", {}, { ids: [] }, { ids: ["0011"], bucket: 0 }]) {
      collector.answer = () => [200, said];
      const client = device();
      await client.consent(true);
      found.push(await refused(client.answer("yes")), await client.spent());
    }
    return found;
  },
  async "an address has one spelling"() {
    const store = inMemory();
    const spellings = ["https://collector.example", "https://Collector.Example:443/", "HTTPS://collector.example//"];
    const fresh = [];
    for (const url of spellings) {
      const client = device({ store, url });
      await client.consent(true);
      fresh.push((await client.answer("yes")).fresh);
    }
    const wrong = await refused((async () => device({ url: "no address" }))());
    return [fresh, await device({ store }).spent(), wrong];
  },
  async "a question has one answer at all addresses"() {
    const store = inMemory();
    const first = await ready({ store });
    const { id } = await first.kept();
    const key = `dnw_${"B".repeat(22)}`;
    const other = device({ store, key, url: "https://elsewhere.example" });
    await other.consent(true);
    const { fresh } = await other.answer("no");
    const kept = await other.kept();
    const posts = [];
    const genuine = globalThis.fetch;
    globalThis.fetch = (url, options) => {
      if (options?.method === "POST") posts.push([String(url), Buffer.from(options.body).subarray(8, 24).toString("base64url")]);
      return genuine(url, options);
    };
    await first.send(true);
    globalThis.fetch = genuine;
    await other.send(true);
    await other.consent(false);
    const silent = await refused(first.answer("yes"));
    return [fresh, kept.id === id, await other.spent(), posts, sent.length, (await first.kept()).fate, silent];
  },
  async "a report that may have arrived stays at its address"() {
    const store = inMemory();
    const first = await ready({ store });
    collector.answer = lost;
    await first.send(true);
    const other = device({ store, url: "https://elsewhere.example" });
    await other.consent(true);
    await other.answer("no");
    return [(await other.kept()).url, await other.spent()];
  },
  async "an answer that was begun at another address is finished for the same price"() {
    const store = inMemory();
    const [{ fingerprint }] = [await (await ready()).kept()];
    const name = "https://elsewhere.example survey";
    await store.change((state) => {
      Object.assign(state, { spent: 1, answers: { [name]: { fate: "drawing", epsilon: 1, fingerprint, url: "" } } });
    });
    const client = await ready({ store });
    return [await client.spent(), (await client.kept()).fate];
  },
  async "other questions have answers of their own"() {
    const store = inMemory();
    await ready({ store });
    collector.form = documents.other;
    const other = device({ store, collection: "other" });
    await other.consent(true);
    const { fresh } = await other.answer("yes");
    return [fresh, await other.spent()];
  },
  async "a beacon is sent on leaving and empties nothing"() {
    const client = await ready({ beacon: true });
    const count = leave();
    const [[url, size]] = beacons;
    const kept = await client.kept();
    await client.send(true);
    return [count, url, size === kept.frame.length / 2, kept.fate, leave()];
  },
  async "without consent no beacon is sent, whichever tab withdrew it"() {
    const store = inMemory();
    await ready({ store, beacon: true });
    const other = device({ store });
    const first = leave();
    await other.consent(false);
    const silent = await soon(() => leave() === 0);
    await other.consent(true);
    const again = await soon(() => leave() === 1);
    await other.forget();
    return [first, silent, again, await soon(() => leave() === 0)];
  },
  async "an answer in another tab is sent on leaving this one"() {
    const store = inMemory();
    device({ store, beacon: true });
    await ready({ store });
    return soon(() => leave() === 1);
  },
  async "a report that another tab has sent is no beacon any more"() {
    const store = inMemory();
    await ready({ store, beacon: true });
    await device({ store }).send(true);
    return soon(() => leave() === 0);
  },
  async "where tabs cannot talk a client works"() {
    const genuine = globalThis.BroadcastChannel;
    delete globalThis.BroadcastChannel;
    const quiet = await ready({ beacon: true });
    globalThis.BroadcastChannel = class {
      constructor() {
        throw new Error("not here");
      }
    };
    const barred = await ready({ beacon: true });
    globalThis.BroadcastChannel = genuine;
    return [(await quiet.kept()).fate, (await barred.kept()).fate];
  },
  async "a report is sent within an hour unless told otherwise"() {
    const { next, delay } = await (await ready({ delay: undefined })).kept();
    return [delay, next > Date.now() - 1000 && next <= Date.now() + 3_600_000];
  },
  async "what is spent is kept before a word is drawn"() {
    const steps = [];
    const store = inMemory();
    const slow = {
      async change(does) {
        const found = await store.change(does);
        await new Promise((done) => setImmediate(done)); // the disk takes its time
        const spent = await store.change((state) => state.spent ?? 0);
        if (spent && !steps.includes("spent")) steps.push("spent");
        return found;
      },
    };
    const client = device({ store: slow });
    await client.consent(true);
    const genuine = crypto.getRandomValues;
    crypto.getRandomValues = (array) => {
      if (array.length === 32) steps.push("key");
      return genuine.call(crypto, array);
    };
    await client.answer("yes");
    delete crypto.getRandomValues;
    return steps;
  },
  async "what has been read is answered in two changes: spent, then kept"() {
    const store = inMemory();
    const steps = [];
    const counting = {
      async change(does) {
        const written = await store.change((state) => [does(state), state.spent ?? 0, Object.keys(mine(state)).length > 4]);
        steps.push(["change", ...written.slice(1)]);
        return written[0];
      },
    };
    const client = await reader({ store: counting });
    await client.consent(true);
    const before = steps.length;
    const { encrypt } = crypto.subtle;
    crypto.subtle.encrypt = (...given) => steps.push(["words"]) && encrypt.apply(crypto.subtle, given);
    const { fresh } = await client.answer("yes");
    delete crypto.subtle.encrypt;
    return [fresh, ...steps.slice(before)];
  },
  async "what has been read is refused in the order of what has not"() {
    const client = await reader();
    const refusals = [await refused(client.answer("perhaps"))]; // which is no answer, nor has anybody agreed
    await client.consent(true);
    refusals.push(await refused(client.answer("perhaps")), await client.spent(), await client.kept());
    await client.answer("yes");
    const again = await client.answer("perhaps");
    return [...refusals, again.fresh, await client.spent()];
  },
  async "the browser is asked to keep the ledger once there is consent"() {
    asked.length = 0;
    const client = device();
    await client.consent(false);
    const before = asked.length;
    await client.consent(true);
    return [before, asked.length];
  },
  async "a store that is full is not tried without end"() {
    const store = inMemory();
    let failures = 0;
    const full = {
      change: (does) =>
        store.change((state) => {
          const found = does(state);
          if (Object.values(state.answers ?? {}).some((kept) => kept.unanswered)) {
            failures += 1;
            throw new Error("QuotaExceededError");
          }
          return found;
        }),
    };
    await ready({ store: full, delay: 0 });
    await soon(() => failures > 1);
    return [failures, sent.length];
  },
};

await run(cases, () => (leaving.length = 0));
