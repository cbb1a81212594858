// A client in a worker, as Deno and service workers have them: no page, no storage, no other tabs, a fetch and a store
// of one's own. Prints what a page would see.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

if (isMainThread) {
  const { documents } = JSON.parse(readFileSync(0, "utf8"));
  const worker = new Worker(new URL(import.meta.url), { workerData: { built: process.argv[2], form: documents.small } });
  worker.on("message", (found) => process.stdout.write(JSON.stringify(found), () => process.exit(0)));
} else {
  const { built, form } = workerData;
  for (const name of ["BroadcastChannel", "addEventListener", "navigator", "indexedDB", "localStorage", "document"])
    delete globalThis[name];
  const posted = [];
  globalThis.fetch = async (url, { method = "GET", body } = {}) => {
    if (method === "GET") return Response.json(form);
    posted.push(new Uint8Array(body).length);
    return Response.json({ accepted: 1 });
  };
  const { Client } = await import(pathToFileURL(`${built}/index.js`));
  const { grr } = await import(pathToFileURL(`${built}/mechanisms/grr.js`));
  let text = "{}";
  const store = {
    async change(does) {
      const state = JSON.parse(text);
      const found = does(state);
      text = JSON.stringify(state);
      return found;
    },
  };
  const options = { url: "https://collector.example", key: `dnw_${"A".repeat(22)}`, collection: "survey", mechanisms: [grr] };
  const client = new Client({ ...options, store, beacon: true, delay: 0 });
  await client.consent(true);
  const first = await client.answer("yes");
  while ((await client.kept()).fate !== "sent") await new Promise((done) => setTimeout(done, 1)); // by itself
  const again = await new Client({ ...options, store }).answer("no");
  const words = await client.explain();
  const homeless = new Client(options); // there is no IndexedDB here
  const code = await homeless.consent(true).catch((error) => error.code);
  parentPort.postMessage({ first, again, posted, spent: await client.spent(), words, code });
}
