import type { Logger } from 'pino';
import { operatorContext } from '#modules/dealers/index.ts';
import { deliver } from '#modules/webhooks/index.ts';
import type { Config } from './config.ts';
import { closeService, openService } from './service.ts';

/** What is under way has so long to end. The supervisor waits a little longer. */
const graceMs = 4_500;

/** Delivers events until closed. `wake`: there may be new ones. */
export async function startCourier(
  config: Config,
  databaseUrl: string,
  masterKeys: readonly Buffer[],
  log: Logger,
): Promise<{ wake(): void; close(): Promise<void> }> {
  const { limits, files, webhookAllowAddresses, baseUrl } = config;
  const service = await openService({ log, databaseUrl, masterKeys, limits, files, webhookAllowAddresses, baseUrl, connections: 4 });
  const courier = deliver(service, { contextOf: operatorContext });
  return {
    wake: courier.wake,
    async close() {
      await courier.close(graceMs);
      await closeService(service);
    },
  };
}
