// A collector that answers as it is told to, and devices of it: what the cases of the TypeScript client share.
//
// usage: node CASES.mjs BUILT < {"documents": ...}; prints what happened in each case, as one JSON object.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const built = (path) => import(pathToFileURL(`${process.argv[2]}/${path}`));
export const { Client, inMemory, DeniableError } = await built("index.js");
export const { all } = await built("all.js");
export const { documents } = JSON.parse(readFileSync(0, "utf8"));
export const ADDRESS = "https://collector.example";
export const sent = []; // ids that were posted, and other requests by their method
export const signals = []; // of each request, whether it can be ended

/** What the collector says: `answer` returns [status, body, headers], or throws as a network does. */
export const collector = { answer: () => [200, { accepted: 1 }], form: documents.small };

globalThis.fetch = async (url, { method = "GET", body, signal } = {}) => {
  signals.push(signal instanceof AbortSignal);
  signal?.throwIfAborted();
  if (String(url).includes("/v1/forms/")) {
    const { form } = collector;
    return new Response(typeof form === "string" ? form : JSON.stringify(form));
  }
  sent.push(method === "POST" ? Buffer.from(body).subarray(60, 76).toString("hex") : `${method} ${url}`);
  const [status, said, headers = {}] = await collector.answer(method);
  return new Response(typeof said === "string" ? said : JSON.stringify(said), { status, headers });
};

/** Nobody answers. */
export const lost = () => {
  throw new TypeError("network");
};
export const refusal = (status, kind) => () => [status, { kind, code: status }];

export const device = (more = {}) =>
  new Client({ url: ADDRESS, key: `dnw_${"A".repeat(22)}`, collection: "survey", mechanisms: all, store: inMemory(), delay: 1e9, ...more });

/** The code with which something is refused, or nothing. */
export const refused = async (promise) => {
  try {
    await promise;
    return "";
  } catch (error) {
    if (!(error instanceof DeniableError)) throw error;
    return error.code;
  }
};

/** A device that has answered. */
export const ready = async (more) => {
  const client = device(more);
  await client.consent(true);
  await client.answer("yes");
  return client;
};

/** Wait until it holds, in however many turns of the loop; false if it never does. */
export const soon = async (holds) => {
  for (let turn = 0; turn < 400; turn++) {
    if (await holds()) return true;
    await new Promise((done) => setTimeout(done, 5));
  }
  return false;
};

/** Print what happens in each case; `before` prepares it. */
export async function run(cases, before = () => {}) {
  const found = {};
  for (const [name, does] of Object.entries(cases)) {
    Object.assign(collector, { answer: () => [200, { accepted: 1 }], form: documents.small });
    sent.length = signals.length = 0;
    before();
    found[name] = await does().catch((error) => `${error}`);
  }
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
}
