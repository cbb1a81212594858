// Requests to the collector: without cookies, redirects or endless waiting, and with nothing but JSON for an answer.

const TIMEOUT = 30_000;
const DAY = 86_400_000; // the longest Retry-After that is believed

/** What was answered, and how many milliseconds to wait before asking again. */
export interface Reply {
  readonly status: number;
  readonly said: Record<string, unknown>;
  readonly wait: number;
}

/** Whether an error has the one shape that a collector's errors have. */
export const isRefusal = ({ status, said }: Reply): boolean => typeof said.kind === "string" && said.code === status;

/**
 * Ask; undefined where nobody answers: no network, a page of somebody else's, half an answer, none in time. An error
 * that is no JSON, as of a proxy, says nothing but how long to wait.
 */
export async function asked(url: string, options: RequestInit = {}): Promise<Reply | undefined> {
  try {
    const signal = AbortSignal.timeout?.(TIMEOUT);
    const response = await fetch(url, { ...options, credentials: "omit", redirect: "error", signal });
    const { status, ok, headers } = response;
    const said: unknown = await response.json().catch((error: unknown) => {
      if (ok) throw error;
    });
    const pause = 1000 * Number(headers.get("retry-after")) || 0;
    return { status, said: Object(said) as Reply["said"], wait: Math.min(DAY, pause) };
  } catch {
    return undefined;
  }
}
