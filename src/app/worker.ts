import type { Logger } from 'pino';
import { dealerById } from '#modules/dealers/index.ts';
import type { Context } from '#platform/context.ts';
import { readsOf } from '#platform/db/queries.ts';
import type { Parcel } from '#platform/jobs/job.ts';
import { work } from '#platform/jobs/work.ts';
import type { Service } from '#platform/service.ts';
import { handlers, schedules } from './catalogue.ts';
import type { Config } from './config.ts';
import { closeService, openService } from './service.ts';

/** Runs the background work until closed. */
export async function startWorker(
  config: Config,
  databaseUrl: string,
  masterKeys: readonly Buffer[],
  log: Logger,
  hintDeliveries?: () => void,
): Promise<{ close(): Promise<void> }> {
  const { limits, lookup, files, mail, imageAllowAddresses, webhookAllowAddresses, baseUrl } = config;
  const service = await openService({
    log,
    databaseUrl,
    masterKeys,
    limits,
    lookup,
    files,
    mail,
    imageAllowAddresses,
    webhookAllowAddresses,
    baseUrl,
    connections: 8,
    ...(hintDeliveries && { hintDeliveries }),
  });
  const working = await work({ databaseUrl, service, handlers, schedules, contextOf });
  return {
    async close() {
      await working.close();
      await closeService(service);
    },
  };
}

/** The context of a job: of whoever asked for it, with the dealer and the time as they are now. */
export async function contextOf(service: Service, { dealer, caller, requestId }: Parcel): Promise<Context> {
  const { now, ...current } = await dealerById(service, dealer.id);
  return { dealer: current, caller, db: readsOf(service.pools.work, dealer.id), now, requestId, service };
}
