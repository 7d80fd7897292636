import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { Upload } from '../contract.ts';
import { limits } from '../contract.ts';
import { invalid, Refusal } from '../errors.ts';
import { sha256 } from '../secrets.ts';
import { bodyTimeoutMs, checkNotEncoded } from './body.ts';

/** The parts of a multipart body by their names: texts and files. */
export type Parts = Record<string, string | Upload>;

/** Receives a multipart body. What never came, or not to its end, is `body_not_received`. `pauseMs`: so long nothing of it may come. */
export async function receiveParts(request: IncomingMessage, pauseMs = bodyTimeoutMs): Promise<Parts> {
  const type = request.headers['content-type'] ?? '';
  const isEmpty = request.headers['transfer-encoding'] === undefined && Number(request.headers['content-length'] ?? 0) === 0;
  if (isEmpty) throw notReceived('The request has no body.');
  if (!/^multipart\/form-data\s*(;|$)/i.test(type)) throw invalid('body', 'Send the body as multipart/form-data.');
  checkNotEncoded(request);
  const parser = parserFor(type);
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) throw bodyTooLarge();
  return collect(request, parser, pauseMs);
}

/** What identifies the parts of a request that is repeated: the boundary and the names of files may differ. */
export const hashesOf = (parts: Parts): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, sha256(typeof part === 'string' ? part : part.bytes).toString('hex')]),
  );

/** A body comes in this many of the pauses it may make, or not at all: 25 MiB in five minutes is 0.7 Mbit/s. */
const mostPauses = 10;

/** How long the slowest body takes. */
export const longestUploadMs = mostPauses * bodyTimeoutMs;

const kibibyte = 1024;
const mostText = 64 * kibibyte;
/** A file, and what may surround it: other parts, headers, boundaries. */
const mostBytes = limits.file + kibibyte * kibibyte;
const mostParts = 20;

// ---- Room ----

/** What the bodies of uploads in hand may take of a process: they are kept until they are answered. */
const room = 192 * kibibyte * kibibyte;
/** What those of one dealership may take of it, so that its slow ones keep nobody else out. */
const roomOfOne = room / 2;

const taken = new Map<string, number>();

/** Does the work of an upload once there is room for its body, of which nothing is read before. */
export async function withRoom<T>(dealerId: string, request: IncomingMessage, work: () => Promise<T>): Promise<T> {
  const bytes = Math.min(Number(request.headers['content-length'] ?? mostBytes), mostBytes);
  const ofOne = (taken.get(dealerId) ?? 0) + bytes;
  const ofAll = [...taken.values()].reduce((sum, each) => sum + each, bytes);
  if (ofOne > roomOfOne || ofAll > room) throw new Refusal('service_unavailable', 'Too many uploads at once.', { retryAfterSeconds: 5 });
  taken.set(dealerId, ofOne);
  try {
    return await work();
  } finally {
    const left = taken.get(dealerId)! - bytes;
    if (left > 0) taken.set(dealerId, left);
    else taken.delete(dealerId);
  }
}

// ---- Receiving ----

/** Every part is read as a file, so that a text's bytes are judged before they are text. */
function parserFor(type: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': type },
      limits: { fileSize: limits.file, parts: mostParts, headerPairs: 20, headerSize: 16 * kibibyte },
      isPartAFile: () => true,
    });
  } catch {
    throw notReceived('The Content-Type names no boundary.');
  }
}

function collect(request: IncomingMessage, parser: BusboyInstance, pauseMs: number): Promise<Parts> {
  return new Promise((resolve, reject) => {
    const parts = new Map<string, string | Upload>();
    let left = mostBytes;
    let settled = false;
    const settle = (end: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(pause);
      clearTimeout(whole);
      request.off('data', count).unpipe(parser);
      end();
    };
    const refuse = (refusal: Refusal) => settle(() => reject(refusal));
    const pause = setTimeout(() => refuse(notReceived(`Nothing of the body came for ${pauseMs / 1000} s.`)), pauseMs);
    const longestMs = mostPauses * pauseMs;
    const whole = setTimeout(() => refuse(notReceived(`The body did not arrive whole within ${longestMs / 1000} s.`)), longestMs);
    const count = (chunk: Buffer) => {
      left -= chunk.length;
      pause.refresh();
      if (left < 0) refuse(bodyTooLarge());
    };
    const keep = (name: string | undefined, part: () => string | Upload) => {
      if (name === undefined || name === '' || name === '__proto__') return refuse(invalid('body', 'A part has no name.'));
      if (parts.has(name)) return refuse(invalid(shown(name), 'Sent more than once.'));
      try {
        parts.set(name, part());
      } catch {
        refuse(invalid(shown(name), 'Not valid UTF-8.'));
      }
    };

    parser.on('file', (name, file, fileName: string | undefined, _encoding, contentType) => {
      const isText = fileName === undefined && contentType === 'text/plain';
      const chunks: Buffer[] = [];
      let size = 0;
      file.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (isText && size > mostText) refuse(textTooLarge());
      });
      file.on('limit', () => refuse(fileTooLarge()));
      file.on('error', () => refuse(endedEarly()));
      file.on('end', () => keep(name, () => (isText ? utf8.decode(Buffer.concat(chunks)) : { bytes: Buffer.concat(chunks), contentType })));
    });
    parser.on('partsLimit', () => refuse(invalid('body', `More than ${mostParts} parts.`)));
    parser.on('error', () => refuse(endedEarly()));
    parser.on('finish', () => {
      if (parts.size === 0) refuse(notReceived('The body has no part.'));
      else settle(() => resolve(Object.fromEntries(parts)));
    });
    request.once('error', () => refuse(endedEarly()));
    request.once('close', () => !request.readableEnded && refuse(endedEarly()));
    request.on('data', count);
    request.pipe(parser);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

const shown = (name: string): string => name.slice(0, 200);

const notReceived = (why: string) => new Refusal('body_not_received', why);
const endedEarly = () => notReceived('The body ended before its last part did.');
const tooLarge = (what: string, bytes: number) =>
  new Refusal('body_too_large', `${what} is larger than ${bytes / kibibyte / kibibyte} MiB.`);
const fileTooLarge = () => tooLarge('A file', limits.file);
const bodyTooLarge = () => tooLarge('The body', mostBytes);
const textTooLarge = () => new Refusal('body_too_large', `A text is larger than ${mostText / kibibyte} KiB.`);
