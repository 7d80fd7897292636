import { METHODS } from 'node:http';
import { extname } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../errors.ts';
import { type FileStore, isFileName } from '../files/store.ts';

/** Serves files to whoever knows their names. What a name means never changes, so it is fetched once and kept. */
export function serveFiles(app: FastifyInstance, files: FileStore): void {
  const url = '/files/*';
  app.route({
    method: ['GET', 'HEAD'],
    url,
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const name = (request.params as { '*': string })['*'];
      const type = types[extname(name)];
      if (!type || !isFileName(name)) return reply.callNotFound();
      const tag = `"${name}"`;
      const known = knownTags(request);
      // Who has it once has it for ever: the store need not be asked.
      if (known.includes(tag)) return reply.code(304).headers(forEver(tag)).send();
      const file = await files.open(name);
      if (!file) return reply.callNotFound();
      reply.headers(forEver(tag));
      if (known.includes('*') || request.method === 'HEAD') file.body.destroy();
      if (known.includes('*')) return reply.code(304).send();
      reply.type(type).header('Content-Length', file.size);
      return reply.send(request.method === 'HEAD' ? null : file.body);
    },
  });
  const allow = taken.join(', ');
  app.options(url, (_request, reply) => reply.code(204).headers({ Allow: allow, 'Access-Control-Allow-Origin': '*' }).send());
  app.route({
    method: METHODS.filter((method) => !taken.includes(method) && method !== 'CONNECT'),
    url,
    handler: () => {
      throw new Refusal('method_not_allowed', undefined, { allow });
    },
  });
}

const types: Readonly<Record<string, string>> = { '.jpg': 'image/jpeg' };

const taken = ['GET', 'HEAD', 'OPTIONS'];

const forEver = (tag: string) => ({
  'Cache-Control': 'public, max-age=31536000, immutable',
  ETag: tag,
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Content-Security-Policy': "default-src 'none'",
});

const knownTags = ({ headers }: FastifyRequest): string[] =>
  (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
