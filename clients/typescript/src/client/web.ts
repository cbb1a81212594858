// Requests to the collector: without cookies, redirects or endless waiting, and with nothing but JSON for an answer.

const TIMEOUT = 30_000;
const DAY = 86_400_000; // the longest Retry-After that is believed

/** What was answered, and how many milliseconds to wait before asking again. */
export interface Reply {
  readonly status: number;
  readonly said: Record<string, unknown>;
  readonly wait: number;
}

/** Ask; undefined where nobody answers: no network, a page of somebody else's, half an answer, none in time. */
export async function asked(url: string, options: RequestInit = {}): Promise<Reply | undefined> {
  try {
    const signal = AbortSignal.timeout?.(TIMEOUT);
    const response = await fetch(url, { ...options, credentials: "omit", redirect: "error", signal });
    const said = Object(await response.json()) as Record<string, unknown>;
    const pause = 1000 * Number(response.headers.get("retry-after")) || 0;
    return { status: response.status, said, wait: Math.min(DAY, pause) };
  } catch {
    return undefined;
  }
}
