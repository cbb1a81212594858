// Where a device keeps what it has answered. A store is one record of plain data, changed as a whole or not at all.

import { DeniableError } from "../core/errors.js";

/** Where an answer is. "withdrawing": it was taken back, and the collector is still to be asked to delete it. */
export type Fate = "drawing" | "queued" | "sent" | "withdrawing" | "expired" | "refused";

/** An answer as it is kept. The value itself is never kept. */
export interface Kept {
  fate: Fate;
  /** The largest epsilon at which a report was, or may have been, drawn; once there is a frame, that of its spec. */
  epsilon: number;
  fingerprint: string;
  /** The frame, in hexadecimal: the very bytes that are sent, however often. Empty once it was taken back. */
  frame?: string;
  /** The bytes of the frame that are the report itself. */
  bytes?: number;
  /** Where it is sent. */
  url: string;
  id?: string;
  hour?: number;
  /** Whether it may have left this device. */
  tried?: boolean;
  /** How many attempts nobody has answered: if there are any, it may have arrived. */
  unanswered?: number;
  /** The longest wait before it is sent first, in milliseconds. */
  delay?: number;
  /** When it may be sent next, in milliseconds since 1970, and how often that failed. */
  next?: number;
  failures?: number;
  /** Why the collector refused it or made it wait, or what became of it once it was taken back. */
  kind?: string;
}

/** All that is kept; answers and consents by collection. */
export interface State {
  consents?: Record<string, boolean>;
  /** The sum of epsilon over all answers ever given, which nothing lowers. */
  spent?: number;
  answers?: Record<string, Kept>;
  /** Other addresses at which an answer is the answer: their names, and that under which it is kept. */
  aliases?: Record<string, string>;
}

/** A place for the record. */
export interface Store {
  /**
   * Change the record: atomically over all tabs and processes, and on disk once the promise is kept.
   *
   * If `does` throws, or the record cannot be kept, nothing is changed and the promise is broken.
   */
  change<T>(does: (state: State) => T): Promise<T>;
}

/** Keep the record in IndexedDB, which all tabs of a site share. */
export function indexedDb(name = "deniable"): Store {
  let opened: Promise<IDBDatabase> | undefined;
  const open = (): Promise<IDBDatabase> =>
    new Promise((done, failed) => {
      const asked = indexedDB.open(name, 1);
      asked.onupgradeneeded = () => asked.result.createObjectStore("state");
      asked.onsuccess = () => done(asked.result);
      asked.onerror = () => failed(asked.error);
    });
  return {
    async change(does) {
      try {
        const database = await (opened ??= open());
        return await new Promise((done, failed) => {
          const work = database.transaction("state", "readwrite", { durability: "strict" });
          const records = work.objectStore("state");
          const found = records.get(0);
          let answer: ReturnType<typeof does>;
          let wrong: unknown;
          found.onsuccess = () => {
            try {
              const state = (found.result ?? {}) as State;
              answer = does(state);
              records.put(state, 0);
              work.commit?.(); // without waiting to hear of the record
            } catch (error) {
              wrong = error;
              work.abort();
            }
          };
          work.oncomplete = () => done(answer);
          work.onabort = () => failed(wrong ?? work.error);
        });
      } catch (error) {
        opened = undefined;
        throw troubled(error);
      }
    },
  };
}

/**
 * Keep the record in localStorage, or anything like it; tabs take turns where the browser has locks.
 *
 * Browsers write localStorage to the disk a little later: after a crash within these seconds a device may not know what
 * it has spent, and spend it again. Where there is IndexedDB, use that.
 */
export function webStorage(given?: Pick<Storage, "getItem" | "setItem">, name = "deniable"): Store {
  const change = <T>(does: (state: State) => T): T => {
    const storage = given ?? localStorage; // which throws where it is blocked
    const state = JSON.parse(storage.getItem(name) ?? "{}") as State;
    const answer = does(state);
    storage.setItem(name, JSON.stringify(state));
    return answer;
  };
  return {
    async change(does) {
      try {
        const locks = globalThis.navigator?.locks;
        return await (locks ? locks.request(name, () => change(does)) : change(does));
      } catch (error) {
        throw troubled(error);
      }
    },
  };
}

/** Keep the record in memory, for tests and for programs that answer once and end. */
export function inMemory(): Store {
  let text: string | null = null;
  return webStorage({ getItem: () => text, setItem: (_, value) => void (text = value) }, "deniable-memory");
}

/** Errors of our own stay; any other is trouble with the store: full, blocked, gone. */
function troubled(error: unknown): unknown {
  if (error instanceof DeniableError) return error;
  const { name } = Object(error) as Error;
  return new DeniableError("storage", `what was answered cannot be kept: ${name ?? "unknown"}`);
}
