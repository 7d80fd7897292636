import type { IncomingMessage } from 'node:http';
import { jsonTypes } from '../contract.ts';
import { invalid, Refusal } from '../errors.ts';

const deepest = 100;

/** A body must have arrived whole within this time. */
export const bodyTimeoutMs = 30_000;

/** Receives a JSON body: size, content type, time, UTF-8, JSON. Absent is `undefined`. */
export async function receiveJson(request: IncomingMessage, limit: number, timeoutMs = bodyTimeoutMs): Promise<unknown> {
  const bytes = await receiveBytes(request, limit, timeoutMs);
  if (bytes.length === 0) return undefined;
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (!jsonTypes.some((known) => known === type)) throw invalid('body', 'Send the body as application/json.');
  checkNotEncoded(request);
  return parseJson(bytes);
}

/** What was packed is not unpacked: a small body stays small. */
export function checkNotEncoded({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding !== 'identity') throw invalid('body', 'Send the body without Content-Encoding.');
}

function parseJson(bytes: Buffer): unknown {
  const parsed = jsonIn(bytes);
  if (parsed === undefined) throw invalid('body', 'Not valid JSON in UTF-8.');
  checkNesting(parsed);
  return parsed;
}

/** The JSON in UTF-8 that these bytes are; undefined when they are none. */
export function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Lets the rest of a body that was refused run out, so that its sender comes to read the answer. Whoever sends on and on is cut off. */
export function discardRest(request: IncomingMessage, timeoutMs = bodyTimeoutMs): void {
  let left = mostDiscarded;
  const cut = setTimeout(() => request.destroy(), timeoutMs).unref();
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
  request.once('close', () => clearTimeout(cut));
  request.resume(); // It may have been paused.
}

const mostDiscarded = 64 * 1024 * 1024;

/** Receives a body as it is: size and time. */
export function receiveBytes(request: IncomingMessage, limit: number, timeoutMs = bodyTimeoutMs): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limit) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (end: () => void) => {
      clearTimeout(timer);
      request.removeAllListeners('data');
      end();
    };
    const timer = setTimeout(
      () => settle(() => reject(invalid('body', `The body did not arrive whole within ${timeoutMs / 1000} s.`))),
      timeoutMs,
    );
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) settle(() => reject(tooLarge(limit)));
      else chunks.push(chunk);
    });
    request.once('end', () => settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))));
    const lost = () => settle(() => reject(invalid('body', 'The body did not arrive whole.')));
    request.once('error', lost);
    request.once('close', lost);
  });
}

const tooLarge = (limit: number) => new Refusal('body_too_large', `The body is larger than ${limit / 1024 / 1024} MiB.`);

/**
 * Walks without recursion, so that no nesting can exhaust the stack. A field named `__proto__` is no field of anything,
 * and goes no further: what copies fields by name would take it for the prototype, or drop it unseen. `root` names the whole.
 */
export function checkNesting(value: unknown, root = 'body'): void {
  let layer: unknown[] = [value];
  for (let depth = 0; layer.length > 0; depth++) {
    if (depth > deepest) throw invalid(root, `Nested deeper than ${deepest} levels.`);
    const below: unknown[] = [];
    for (const item of layer) {
      if (item === null || typeof item !== 'object') continue;
      if (Object.hasOwn(item, '__proto__')) throw invalid('__proto__', 'Unknown field.');
      for (const inner of Array.isArray(item) ? item : Object.values(item))
        if (inner !== null && typeof inner === 'object') below.push(inner);
    }
    layer = below;
  }
}
