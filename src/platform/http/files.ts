import { extname } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type FileStore, isFileName } from '../files/store.ts';

/** Serves files to whoever knows their names. What a name means never changes, so it is fetched once and kept. */
export function serveFiles(app: FastifyInstance, files: FileStore): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/files/*',
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const name = (request.params as { '*': string })['*'];
      const type = types[extname(name)];
      const file = type && isFileName(name) ? await files.open(name) : null;
      if (!file) return reply.callNotFound();
      const tag = `"${name}"`;
      reply.headers({
        'Cache-Control': 'public, max-age=31536000, immutable',
        ETag: tag,
        'Access-Control-Allow-Origin': '*',
        'Cross-Origin-Resource-Policy': 'cross-origin',
        'Content-Security-Policy': "default-src 'none'",
      });
      const isKnown = request.headers['if-none-match']?.split(',').some((known) => known.trim().replace(/^W\//, '') === tag);
      if (isKnown || request.method === 'HEAD') file.body.destroy();
      if (isKnown) return reply.code(304).send();
      reply.type(type!).header('Content-Length', file.size);
      return reply.send(request.method === 'HEAD' ? null : file.body);
    },
  });
}

const types: Readonly<Record<string, string>> = { '.jpg': 'image/jpeg' };
