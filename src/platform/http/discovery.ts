import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Refusal } from '../errors.ts';

// What an application that knows nothing but an address finds out from it: RFC 9728, and the pointer that every 401 carries.

/** The resource an assistant is pointed at: the address its user pastes. */
export const mcpUrl = (baseUrl: string): string => `${baseUrl}/v1/mcp`;

/** Where the document of that resource lies: beside the root, its own path behind. */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource/v1/mcp';

export const resourceMetadataUrl = (baseUrl: string): string => `${baseUrl}${resourceMetadataPath}`;

/** Which tokens the resource takes, and who gives them. It names no scopes: clients would ask for every one of them. */
export const resourceMetadata = (baseUrl: string) => ({
  resource: mcpUrl(baseUrl),
  authorization_servers: [new URL(baseUrl).origin],
  bearer_methods_supported: ['header'],
  resource_name: 'Forecourt',
  resource_documentation: `${baseUrl}/docs`,
});

/** Serves such a document. Applications that live in a page, whatever its origin, read it from there, and name the version they speak. */
export function serveDiscovery(app: FastifyInstance, url: string, document: () => object): void {
  const reading = ['GET', 'HEAD'];
  const toPages = { 'Access-Control-Allow-Origin': '*' };
  app.route({ method: reading, url, handler: (_request, reply) => reply.headers({ ...toPages, ...kept }).send(document()) });
  app.options(url, (_request, reply) =>
    reply
      .code(204)
      .headers({ ...toPages, 'Access-Control-Allow-Methods': 'GET', 'Access-Control-Allow-Headers': 'MCP-Protocol-Version' })
      .send(),
  );
  app.route({
    method: METHODS.filter((method) => ![...reading, 'OPTIONS', 'CONNECT'].includes(method)),
    url,
    handler(_request, reply) {
      reply.headers(toPages);
      throw new Refusal('method_not_allowed', undefined, { allow: [...reading, 'OPTIONS'].join(', ') });
    },
  });
}

const kept = { 'Cache-Control': 'public, max-age=3600' };
