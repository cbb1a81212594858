// Networks that lose requests and answers, with a collector behind them: one in memory, or a real one.

import { request } from "node:http";
import { createInterface } from "node:readline";

const HOURS = 168; // for which ids are remembered

/** Numbers from 0 to 1 that follow from a seed. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

const response = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers });
const refusal = (status, kind, headers) => response(status, { kind, code: status }, headers);
const secret = (key) => Buffer.from(key.slice(4), "base64url").toString("hex");
const read = (body) => {
  const frame = Buffer.from(body);
  const part = (from, to) => frame.subarray(from, to).toString("hex");
  return { key: part(8, 24), id: part(60, 76), hour: frame.readUInt32LE(56), bytes: part(0, frame.length) };
};
const idOf = (url) => url.split("/").at(-1).split("?")[0];

/** What came of each id: where it arrived, and whether it was deleted, refused, or too old. */
class Log {
  constructor() {
    this.ids = new Map(); // id -> key
    this.deleted = new Set();
    this.late = new Set();
    this.refused = new Set();
    this.bodies = new Map();
  }

  /** The same id has the same bytes, however often it comes. */
  same({ id, bytes }) {
    if ((this.bodies.get(id) ?? bytes) !== bytes) throw new Error(`other bytes under the id ${id}`);
    this.bodies.set(id, bytes);
  }

  seen(key) {
    const ids = [...this.ids].filter(([, each]) => each === secret(key)).map(([id]) => id);
    return { ids, deleted: [...this.deleted], late: [...this.late], refused: [...this.refused] };
  }
}

/** A network that loses a third of what it carries until it is healthy, before or after it has arrived. */
function lossy({ healthy, chance }, carry) {
  return async (url, { method = "GET", body, headers = {} }) => {
    const lost = !healthy() && chance() < 0.35;
    if (lost && (chance() < 0.5 || method === "GET")) throw new TypeError("network");
    const found = await carry(url, method, body, headers);
    if (lost) throw new TypeError("the answer was lost");
    return found;
  };
}

/** A collector in memory, which restarts, is closed for a while, and remembers ids as long as a real one does. */
export function collectorInMemory({ documents, now, healthy, chance }) {
  const log = new Log();
  const under = (share) => !healthy() && chance() < share;
  let down = 0; // until then it is being restarted
  const tooOld = (hour) => hour < now() / 3_600_000 - HOURS - 24;
  const post = (body) => {
    const { key, id, hour, bytes } = read(body);
    log.same({ id, bytes });
    if (tooOld(hour)) return log.late.add(id), refusal(410, "too-old");
    if (log.ids.has(id) || log.deleted.has(id)) return response(200, { accepted: 1 });
    if (under(0.03)) return log.refused.add(id), refusal(409, "closed");
    log.ids.set(id, key);
    return response(200, { accepted: 1 });
  };
  const remove = (url) => {
    const id = idOf(url);
    if (tooOld(Number(url.split("=")[1]))) return refusal(410, "too-old");
    log.deleted.add(id); // also of a report that is still on its way
    return log.ids.has(id) ? response(200, { outcome: "deleted" }) : refusal(404, "no-such-report");
  };
  const carry = async (url, method, body) => {
    if (!healthy() && now() < down) throw new TypeError("connection refused");
    if (url.includes("/v1/forms/")) return response(200, documents[url.split("/").at(-1)]);
    if (under(0.15)) {
      const status = chance() < 0.5 ? 503 : 429;
      if (chance() < 0.2) return response(status, "maintenance");
      return refusal(status, "busy", chance() < 0.5 ? { "retry-after": "7" } : {});
    }
    if (under(0.05)) return response(200, "please sign in to this network");
    const restarts = under(0.05);
    if (restarts) down = now() + 60_000 * chance();
    if (restarts && chance() < 0.5) throw new TypeError("connection reset");
    const found = method === "DELETE" ? remove(url) : post(body);
    if (restarts) throw new TypeError("connection reset");
    return found;
  };
  return { network: lossy({ healthy, chance }, carry), seen: (key) => log.seen(key), pending: () => 0 };
}

function carried(url, method, body, headers) {
  return new Promise((done, failed) => {
    const asked = request(url, { method, headers, agent: false }, (reply) => {
      const parts = [];
      reply.on("data", (part) => parts.push(part)).on("error", failed);
      reply.on("end", () => done([reply.statusCode, Buffer.concat(parts).toString(), reply.headers]));
    });
    asked.on("error", failed);
    asked.end(body && Buffer.from(body));
  });
}

/** A real collector, whose answers are seen even where the network loses them. */
export function collectorAt({ healthy, chance }) {
  const log = new Log();
  let pending = 0;
  const carry = async (url, method, body, headers) => {
    pending += 1;
    try {
      const [status, text, { "retry-after": pause }] = await carried(url, method, body, headers);
      note(method, url, body, status, JSON.parse(text));
      return new Response(text, { status, headers: pause ? { "retry-after": pause } : {} });
    } finally {
      pending -= 1;
    }
  };
  const note = (method, url, body, status, { kind, outcome }) => {
    if (method === "POST") {
      const { key, id, bytes } = read(body);
      log.same({ id, bytes });
      if (status === 200) log.ids.set(id, key);
      if (kind === "too-old") log.late.add(id);
      if (kind === "closed") log.refused.add(id);
    }
    if (method === "DELETE" && (outcome === "deleted" || kind === "no-such-report")) log.deleted.add(idOf(url));
  };
  return { network: lossy({ healthy, chance }, carry), seen: (key) => log.seen(key), pending: () => pending };
}

/** Ask whoever started this program, by a line, for something; its answer is a line too. */
export function asker() {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  return {
    next,
    ask(what) {
      process.stdout.write(`${what}\n`);
      return next();
    },
  };
}
