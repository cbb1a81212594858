/** The collector's HTTP API, as docs/collector-api.md describes it. */

export interface Spec {
  fingerprint: string;
  added: number;
  kind: "closed" | "open" | "heavy-hitters";
  mechanism: string;
  epsilon: number;
  ratio: number;
  values: number | null;
  expired: boolean;
}
export interface Segment {
  name: string;
  labels: string[];
}
export interface Settings {
  open: boolean;
  bucket: string;
  segments: Segment[];
  minimum: number;
  retention_days: number | null;
  keep_reports: boolean;
  window_hours: number;
  origins: string[];
  issued_ids: boolean;
  [name: string]: unknown;
}
export interface Bucket {
  bucket: number;
  time: string;
  counted: number;
  published: number;
}
export interface Collection {
  name: string;
  settings: Settings;
  specs: Spec[];
  signed_by: string;
  form: string;
  counted: number;
  published: number;
  waiting: number;
  buckets: Bucket[];
}
export interface Columns {
  label: string[];
  frequency: number[];
  std_error: number[];
  low: number[];
  high: number[];
  users: number[];
}
export interface Answer {
  n: number;
  withheld: number;
  method: string;
  methods: string[];
  target: string;
  level: number;
  simultaneous: boolean;
  unbiased: boolean;
  interval_note: string;
  simulated: boolean;
  visible_from: number;
  matches: number;
  columns: Columns;
}
export interface Moment {
  bucket: number;
  time: string;
  n: number;
  frequency: number | null;
  low: number | null;
  high: number | null;
}
export interface Difference {
  n: [number, number];
  alike: { label: string; p_value: number; rate: number; differ: boolean } | null;
  values: { name: string; value: number; std_error: number; low: number; high: number }[];
}
export interface Row {
  label: string;
  frequency: number;
  std_error: number;
  low: number;
  high: number;
  users: number;
}
export interface KeyInfo {
  id: string;
  role: string;
  label: string;
  made: number;
  revoked: number | null;
}

/** The largest numbers that a collector takes. */
export const MOST = { minimum: 1e9, days: 36_500, users: 1e12 };

export class ApiError extends Error {
  constructor(message: string, readonly kind: string, readonly code: number) {
    super(message);
  }
}

const NAME = "deniable-key";
let memory = "";
let lent = "";

/** Look with a key that a link brought: on this page alone, and without touching the key of whoever looks in this tab. */
export function lendKey(text: string): void {
  lent = text;
}

/** The key of whoever looks, kept until the tab is closed. */
export function key(): string {
  if (lent) return lent;
  try {
    return sessionStorage.getItem(NAME) ?? memory;
  } catch {
    return memory; // storage is blocked
  }
}

export function setKey(text: string): void {
  memory = text;
  try {
    if (text) sessionStorage.setItem(NAME, text);
    else sessionStorage.removeItem(NAME);
  } catch {
    // kept in memory alone
  }
}

export const isAdmin = (): boolean => key().startsWith("dna_");

type Query = Record<string, string | number | boolean | null | undefined | readonly string[]>;

function address(path: string, query: Query): string {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    for (const each of Array.isArray(value) ? value : [value]) found.append(name, String(each));
  }
  const text = found.toString();
  return new URL(text ? `${path}?${text}` : path, document.baseURI).href;
}

export async function request(method: string, path: string, query: Query = {}, body?: unknown): Promise<Response> {
  const headers: Record<string, string> = key() ? { authorization: `Bearer ${key()}` } : {};
  if (body !== undefined) headers["content-type"] = "application/json";
  let response: Response;
  try {
    const sent = body === undefined ? null : JSON.stringify(body);
    response = await fetch(address(path, query), { method, headers, body: sent, credentials: "omit" });
  } catch {
    throw new ApiError("The collector does not answer. It may be restarting; try again in a moment.", "unreachable", 0);
  }
  if (response.ok) return response;
  const said = (await response.json().catch(() => null)) as { error?: string; kind?: string } | null;
  throw new ApiError(said?.error ?? `The collector answered ${response.status}.`, said?.kind ?? "broken", response.status);
}

const get = async <T>(path: string, query: Query = {}): Promise<T> => (await request("GET", path, query)).json() as Promise<T>;
const send = async <T>(method: string, path: string, body: unknown): Promise<T> =>
  (await request(method, path, {}, body)).json() as Promise<T>;

const at = (name: string): string => `v1/collections/${encodeURIComponent(name)}`;

export const collections = async (): Promise<Collection[]> => (await get<{ collections: Collection[] }>("v1/collections")).collections;
export const collection = (name: string): Promise<Collection> => get(at(name));
export const estimate = (name: string, query: Query): Promise<Answer> => get(`${at(name)}/estimate`, { ...query, format: "columns" });
export const trend = (name: string, query: Query): Promise<{ label: string; buckets: Moment[] }> => get(`${at(name)}/trend`, query);
export const difference = (name: string, query: Query): Promise<Difference> => get(`${at(name)}/difference`, query);
export const refusals = (name: string): Promise<{ refusals: { day: string; kind: string; count: number }[] }> => get(`${at(name)}/refusals`);
export const candidates = (name: string, body: unknown): Promise<{ n: number; withheld: number; promise: string; present: Row[]; unlisted: Row | null }> =>
  send("POST", `${at(name)}/candidates`, body);
export const hitters = (name: string, query: Query): Promise<{ n: number; withheld: number; promise: string; missed: string; strings: (Row & { whole: boolean })[] }> =>
  get(`${at(name)}/heavy-hitters`, query);
export const keys = async (name: string): Promise<KeyInfo[]> => (await get<{ keys: KeyInfo[] }>(`${at(name)}/keys`)).keys;
export const makeKey = (name: string, role: string, label: string): Promise<{ id: string; key: string }> => send("POST", `${at(name)}/keys`, { role, label });
export const revokeKey = (name: string, id: string): Promise<Response> => request("DELETE", `${at(name)}/keys/${id}`);
export const change = (name: string, settings: unknown): Promise<Collection> => send("PATCH", at(name), settings);
export const make = (body: unknown): Promise<{ collection: Collection; keys: { role: string; key: string }[] }> => send("POST", "v1/collections", body);
export const preview = <T>(body: unknown): Promise<T> => send("POST", "v1/preview", body);
export const download = (name: string, what: string, query: Query): Promise<Response> => request("GET", `${at(name)}/${what}`, query);

/** The documents of a collection's specs, newest first, from its form, which anybody may read. */
export async function documents(name: string): Promise<unknown[]> {
  const signed = await get<{ form: string }>(`v1/forms/${encodeURIComponent(name)}`);
  return (JSON.parse(signed.form) as { specs: unknown[] }).specs;
}
