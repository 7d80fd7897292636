import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** A document that is made when it is asked for. */
export interface Document {
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Serves PDFs below a path to whoever holds their link. They are nobody else's, and may change: nothing in between keeps them. The signed
 * part of a link is its query, which is in no log.
 */
export function serveDocuments(app: FastifyInstance, path: string, open: (link: string) => Promise<Document | null>): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: `${path}/:name`,
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { name } = request.params as { name: string };
      const { link } = request.query as { link?: unknown };
      const document = typeof link === 'string' ? await open(link) : null;
      if (document?.name !== name) return reply.callNotFound();
      reply.type('application/pdf').headers({
        'Content-Length': document.bytes.length,
        'Content-Disposition': `inline; filename="${document.name}"`,
        'Cache-Control': 'private, no-store',
        'Referrer-Policy': 'no-referrer',
        'X-Robots-Tag': 'noindex',
      });
      return reply.send(request.method === 'HEAD' ? null : document.bytes);
    },
  });
}
