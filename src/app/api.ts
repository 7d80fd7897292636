import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { openPdf } from '#modules/invoices/index.ts';
import { identifier } from '#modules/keys/index.ts';
import { authorisationServer } from '#modules/oauth/index.ts';
import { scopeCatalogue } from '#modules/staff/contract.ts';
import type { Route } from '#platform/http/answer.ts';
import { resourceMetadata, resourceMetadataPath, serveDiscovery } from '#platform/http/discovery.ts';
import { serveDocuments } from '#platform/http/documents.ts';
import { serveFiles } from '#platform/http/files.ts';
import { serveOAuth } from '#platform/http/oauth.ts';
import { serve } from '#platform/http/serve.ts';
import { mcpEndpoint } from '#platform/mcp/serve.ts';
import type { Tool } from '#platform/mcp/tool.ts';
import type { Service } from '#platform/service.ts';
import { assistantServer, instructions } from './assistants.ts';
import { oauthEndpoints, routes, tools } from './catalogue.ts';
import type { Config } from './config.ts';
import { docsPage, docsPolicy, docsProgram } from './docs-page.ts';
import { errorsPage } from './errors-page.ts';
import { openApiText } from './openapi.ts';
import { closeService, openService } from './service.ts';

export interface ApiOptions {
  readonly service: Service;
  readonly baseUrl: string;
  readonly trustedProxies: readonly string[];
  /** Calls of the OAuth endpoints per client address; 60 unless given. */
  readonly oauthCallsPerMinute?: number;
  readonly bodyTimeoutMs?: number;
  /** The origins of pages from which an assistant may call with an OAuth token; this server's own unless said. */
  readonly mcpOrigins?: readonly string[];
  /** Operations beside the product's own; tests add some. */
  readonly more?: readonly Route[];
  /** Likewise tools. */
  readonly moreTools?: readonly Tool[];
}

/** Serves the API until closed. */
export async function startApi(
  config: Config,
  databaseUrl: string,
  masterKeys: readonly Buffer[],
  log: Logger,
  hintDeliveries?: () => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const { limits, lookup, files, mail, imageAllowAddresses, webhookAllowAddresses, baseUrl, dmsUrl } = config;
  const kept = { limits, lookup, files, mail, imageAllowAddresses, webhookAllowAddresses, baseUrl, dmsUrl };
  const service = await openService({ log, databaseUrl, masterKeys, ...kept, ...(hintDeliveries && { hintDeliveries }) });
  const { trustedProxies, oauthCallsPerMinute, mcpOrigins } = config;
  const app = buildApi({ service, baseUrl, trustedProxies, oauthCallsPerMinute, mcpOrigins });
  const url = await listen(app, config.host, config.apiPort);
  return {
    url,
    async close() {
      await app.close();
      await closeService(service);
    },
  };
}

/** The API as a server that does not listen yet: operations behind their doors, and the public routes beside them. */
export function buildApi({ more = [], moreTools = [], oauthCallsPerMinute: callsPerMinute = 60, ...options }: ApiOptions): FastifyInstance {
  const { service, baseUrl, bodyTimeoutMs, mcpOrigins = [new URL(baseUrl).origin] } = options;
  const { identify, close } = identifier(service);
  const permissionBehind = (scope: string) => scopeCatalogue[scope as keyof typeof scopeCatalogue]?.permission ?? null;
  const app = serve({
    ...options,
    doors: { identify, permissionBehind, pages: mcpOrigins },
    routes: [...routes, ...more],
    bareRoutes: [mcpEndpoint({ tools: [...tools, ...moreTools], server: assistantServer, instructions })],
  });

  serveOAuth(app, { service, endpoints: oauthEndpoints, callsPerMinute, docsUrl: `${options.baseUrl}/docs/errors`, bodyTimeoutMs });
  app.get('/healthz', page, (_request, reply) => reply.send({ status: 'ok' }));
  app.get('/readyz', page, async (_request, reply) => {
    const ready = await service.pools.doors.query('select 1').then(
      () => true,
      () => false,
    );
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'no database' });
  });
  app.get('/openapi.json', page, (_request, reply) => reply.type('application/json; charset=utf-8').send(openApiText(options.baseUrl)));
  app.get('/docs', page, (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('Content-Security-Policy', docsPolicy(options.baseUrl)).send(docsPage()),
  );
  app.get('/docs/reference.js', page, async (_request, reply) =>
    reply
      .type('text/javascript; charset=utf-8')
      .headers({ 'Content-Encoding': 'gzip', 'Cache-Control': 'public, max-age=86400' })
      .send(await docsProgram()),
  );
  app.get('/docs/errors', page, (_request, reply) => reply.type('text/html; charset=utf-8').send(errorsPage()));
  serveDiscovery(app, '/.well-known/oauth-authorization-server', () => authorisationServer(service));
  for (const path of [resourceMetadataPath, '/.well-known/oauth-protected-resource'])
    serveDiscovery(app, path, () => resourceMetadata(baseUrl));
  serveFiles(app, service.files);
  serveDocuments(app, '/invoices', (link) => openPdf(service, link));
  app.addHook('onClose', close);
  return app;
}

/** What is read beside the operations answers HEAD as it answers GET. */
const page = { exposeHeadRoute: true };

/** Listens; port 0 takes a free one. Returns the address. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.listen({ host, port });
  const { port: bound } = app.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
}
