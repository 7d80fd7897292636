import { setTimeout as delay } from 'node:timers/promises';

export interface ApiClient {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown, idempotencyKey: string): Promise<T>;
}

/** How often a call is made again that met a server in trouble: a good two minutes in all. */
const attempts = 20;
const longestPauseMs = 10_000;

/** Calls the API as any client would: within its allowance, and again when the server was away or out of breath. */
export function apiClient(api: string, key: string, sleep: (ms: number) => Promise<unknown> = delay): ApiClient {
  const base = api.replace(/\/+$/, '');
  let pausedUntil = 0;

  /** One attempt; what it returns is how long to wait before the next. */
  const attempt = async (method: string, path: string, body: string | undefined, headers: Record<string, string>): Promise<Attempt> => {
    await sleepUntil(pausedUntil, sleep);
    const response = await fetch(base + path, {
      method,
      headers,
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (response.headers.get('x-ratelimit-remaining') === '0') pausedUntil = Date.now() + secondsOf(response, 'x-ratelimit-reset') * 1000;
    if (response.ok) return { answer: JSON.parse(text) };
    const retryAfterMs = secondsOf(response, 'retry-after') * 1000;
    if (response.status === 429 && retryAfterMs > 0) return { limitedMs: retryAfterMs };
    const refused = errorOf(response.status, text);
    if (response.status >= 500 || refused.code === 'idempotency_key_in_use') return { trouble: refused, pauseMs: retryAfterMs };
    throw refused;
  };

  const call = async <T>(method: string, path: string, content?: unknown, more: Record<string, string> = {}): Promise<T> => {
    const body = content === undefined ? undefined : JSON.stringify(content);
    const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...more };
    let trouble: Error | undefined;
    for (let tries = 0, pauseMs = 250; tries < attempts; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const result = await attempt(method, path, body, headers).catch(unreachable);
      if ('answer' in result) return result.answer as T;
      if ('limitedMs' in result) {
        await sleep(result.limitedMs);
        continue;
      }
      ({ trouble } = result);
      tries++;
      if (tries < attempts) await sleep(Math.max(pauseMs, result.pauseMs));
    }
    throw trouble;
  };

  const unreachable = (error: unknown): Attempt => {
    if (error instanceof ApiError) throw error;
    return { trouble: new Error(`${base} does not answer (${reasonOf(error)}).`), pauseMs: 0 };
  };

  return {
    get: (path) => call('GET', path),
    post: (path, body, idempotencyKey) => call('POST', path, body, { 'idempotency-key': idempotencyKey }),
  };
}

type Attempt = { answer: unknown } | { limitedMs: number } | { trouble: Error; pauseMs: number };

/** A refusal of the API. */
export class ApiError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function errorOf(status: number, text: string): ApiError {
  try {
    const { code = String(status), message = '', errors } = JSON.parse(text);
    const fields = Object.entries((errors ?? {}) as Record<string, string[]>).map(([field, faults]) => `${field}: ${faults.join(' ')}`);
    return new ApiError(code, [`The API refused (${code}): ${message}`, ...fields].join(' '));
  } catch {
    return new ApiError(String(status), `The API answered ${status}, and not in its own form: is the address right?`);
  }
}

const secondsOf = (response: Response, header: string): number => Math.max(0, Number(response.headers.get(header) ?? 0) || 0);

async function sleepUntil(time: number, sleep: (ms: number) => Promise<unknown>): Promise<void> {
  const ms = time - Date.now();
  if (ms > 0) await sleep(ms);
}

function reasonOf(error: unknown): string {
  const { cause, message, name } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? (name === 'TimeoutError' ? 'no answer within 60 s' : message);
}
