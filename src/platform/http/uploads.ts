import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { Upload } from '../contract.ts';
import { limits } from '../contract.ts';
import { invalid, Refusal } from '../errors.ts';
import { sha256 } from '../secrets.ts';
import { bodyTimeoutMs } from './body.ts';

/** The parts of a multipart body by their names: texts and files. */
export type Parts = Record<string, string | Upload>;

/** Receives a multipart body. What never came, or not to its end, is `body_not_received`. */
export async function receiveParts(request: IncomingMessage, timeoutMs = bodyTimeoutMs): Promise<Parts> {
  const type = request.headers['content-type'] ?? '';
  const isEmpty = request.headers['transfer-encoding'] === undefined && Number(request.headers['content-length'] ?? 0) === 0;
  if (isEmpty) throw notReceived('The request has no body.');
  if (!/^multipart\/form-data\s*(;|$)/i.test(type)) throw invalid('body', 'Send the body as multipart/form-data.');
  const parser = parserFor(type);
  if (Number(request.headers['content-length'] ?? 0) > limits.file + mostAround) throw tooLarge();
  return collect(request, parser, timeoutMs);
}

/** What identifies the parts of a request that is repeated: the boundary and the names of files may differ. */
export const hashesOf = (parts: Parts): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, sha256(typeof part === 'string' ? part : part.bytes).toString('hex')]),
  );

/** What may surround a file: other parts, headers, boundaries. */
const mostAround = 1024 * 1024;
const mostParts = 20;

function parserFor(type: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': type },
      limits: { fileSize: limits.file, fieldSize: 64 * 1024, parts: mostParts, headerPairs: 20, headerSize: 16 * 1024 },
      isPartAFile: (_name, contentType, fileName) => fileName !== undefined || contentType !== 'text/plain',
    });
  } catch {
    throw notReceived('The Content-Type names no boundary.');
  }
}

function collect(request: IncomingMessage, parser: BusboyInstance, timeoutMs: number): Promise<Parts> {
  return new Promise((resolve, reject) => {
    const parts = new Map<string, string | Upload>();
    let settled = false;
    const settle = (end: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      request.unpipe(parser);
      end();
    };
    const refuse = (refusal: Refusal) => settle(() => reject(refusal));
    const keep = (name: string | undefined, part: string | Upload) => {
      if (name === undefined || name === '' || name === '__proto__') refuse(invalid('body', 'A part has no name.'));
      else if (parts.has(name)) refuse(invalid(name.slice(0, 200), 'Sent more than once.'));
      else parts.set(name, part);
    };
    const timer = setTimeout(() => refuse(notReceived(`The body did not arrive whole within ${timeoutMs / 1000} s.`)), timeoutMs);

    parser.on('field', (name, value, _nameCut, valueCut) => {
      if (valueCut) refuse(tooLarge());
      else keep(name, value);
    });
    parser.on('file', (name, file, _fileName, _encoding, contentType) => {
      const chunks: Buffer[] = [];
      file.on('data', (chunk: Buffer) => chunks.push(chunk));
      file.on('limit', () => refuse(tooLarge()));
      file.on('error', () => refuse(endedEarly()));
      file.on('end', () => keep(name, { bytes: Buffer.concat(chunks), contentType }));
    });
    parser.on('partsLimit', () => refuse(invalid('body', `More than ${mostParts} parts.`)));
    parser.on('error', () => refuse(endedEarly()));
    parser.on('finish', () => {
      if (parts.size === 0) refuse(notReceived('The body has no part.'));
      else settle(() => resolve(Object.fromEntries(parts)));
    });
    request.once('error', () => refuse(endedEarly()));
    request.once('close', () => !request.readableEnded && refuse(endedEarly()));
    request.pipe(parser);
  });
}

const notReceived = (why: string) => new Refusal('body_not_received', why);
const endedEarly = () => notReceived('The body ended before its last part did.');
const tooLarge = () => new Refusal('body_too_large', `A file is larger than ${limits.file / 1024 / 1024} MiB.`);
