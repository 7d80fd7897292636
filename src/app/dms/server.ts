import type { Logger } from 'pino';
import { servePages } from '#platform/http/pages.ts';
import type { Service } from '#platform/service.ts';
import { listen } from '../api.ts';
import type { Config } from '../config.ts';
import { closeService, openService } from '../service.ts';
import { connectedAppsPages } from './connected-apps.ts';
import { consentPages } from './consent.ts';
import { parts } from './frame.ts';
import { homePages } from './home.ts';
import { signInPages } from './sign-in.ts';
import { trouble } from './trouble.ts';

export interface DmsOptions {
  readonly service: Service;
  readonly trustedProxies: readonly string[];
}

/** Serves the dealership's web application until closed. */
export async function startDms(
  config: Config,
  databaseUrl: string,
  masterKeys: readonly Buffer[],
  log: Logger,
): Promise<{ url: string; close(): Promise<void> }> {
  const { limits, files, baseUrl, dmsUrl, trustedProxies } = config;
  const service = await openService({ log, databaseUrl, masterKeys, limits, files, baseUrl, dmsUrl, connections: 8 });
  const app = buildDms({ service, trustedProxies });
  const url = await listen(app, config.host, config.dmsPort);
  return {
    url,
    async close() {
      await app.close();
      await closeService(service);
    },
  };
}

/** The web application as a server that does not listen yet. */
export function buildDms({ service, trustedProxies }: DmsOptions) {
  const pages = [...homePages(service), ...signInPages(service), ...consentPages(service), ...connectedAppsPages(service)];
  const app = servePages({ service, pages, parts, trouble, ownUrl: service.dmsUrl, trustedProxies });
  app.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }));
  return app;
}
