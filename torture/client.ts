import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** A client of the API as every client should be: what got no answer, or one that says "later", is asked again, a POST with its `Idempotency-Key`. */
export interface Client {
  /** Resolves with the `data` of a success and when the first attempt was made and the answer had; null of a record that is gone. */
  ask(key: string, method: Method, path: string, more?: { body?: unknown; once?: string }): Promise<Answered>;
  /** The text of a success as it came. */
  read(key: string, path: string): Promise<string>;
  /** How many attempts got no answer, or one that said "later". */
  readonly troubles: { unanswered: number; later: number; faults: number };
  close(): Promise<void>;
}

type Method = 'POST' | 'PATCH' | 'DELETE';

export interface Answered {
  // biome-ignore lint/suspicious/noExplicitAny: an answer holds whatever was asked for
  readonly data: any;
  readonly sentAt: number;
  readonly knownAt: number;
}

const pauseMs = 100;
const patienceMs = 20_000;

export function clientOf(apis: readonly string[]): Client {
  const agent = new Agent({ connections: 32, headersTimeout: patienceMs, bodyTimeout: patienceMs });
  const troubles = { unanswered: 0, later: 0, faults: 0 };
  let turn = 0;

  const insist = async (key: string, method: Method | 'GET', path: string, body?: unknown, once?: string) => {
    const sentAt = Date.now();
    for (let tries = 1; ; tries++) {
      const answer = await request(`${apis[turn++ % apis.length]}${path}`, {
        dispatcher: agent,
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(once !== undefined && { 'idempotency-key': once }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      })
        .then(async (response) => ({ status: response.statusCode, text: await response.body.text() }))
        .catch(() => null);
      if (answer !== null && answer.status < 300) return { text: answer.text, sentAt, knownAt: Date.now() };
      // The first attempt did it, and its answer was lost.
      if (answer?.status === 404 && method === 'DELETE' && tries > 1) return { text: 'null', sentAt, knownAt: Date.now() };
      if (answer === null) troubles.unanswered++;
      else if (answer.status === 500) troubles.faults++;
      else if (isLater(answer)) troubles.later++;
      else throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      await delay(pauseMs);
    }
  };

  return {
    async ask(key, method, path, { body, once } = {}) {
      const { text, ...times } = await insist(key, method, path, body, once);
      return { data: JSON.parse(text)?.data ?? null, ...times };
    },
    read: async (key, path) => (await insist(key, 'GET', path)).text,
    troubles,
    close: () => agent.destroy(),
  };
}

const isLater = ({ status, text }: { status: number; text: string }): boolean =>
  [429, 502, 503].includes(status) || (status === 409 && /"code":"(stock_busy|idempotency_key_in_use)"/.test(text));
