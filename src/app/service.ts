import type { Logger } from 'pino';
import { connect } from '#platform/db/connect.ts';
import { openStore } from '#platform/files/open-store.ts';
import type { FilesPlace } from '#platform/files/store.ts';
import { openQueue } from '#platform/jobs/queue.ts';
import type { LookupSettings } from '#platform/lookup/lookup.ts';
import { builtinLookup, openLookup } from '#platform/lookup/open-lookup.ts';
import { openPostbox } from '#platform/mail/open-postbox.ts';
import type { PostboxPlace } from '#platform/mail/postbox.ts';
import { rememberedNames } from '#platform/net/names.ts';
import { systemNames } from '#platform/net/public-address.ts';
import { keyring } from '#platform/secrets.ts';
import type { PlanLimits, Service } from '#platform/service.ts';
import { readConfig } from './config.ts';

export interface ServiceOptions {
  readonly log: Logger;
  readonly databaseUrl: string;
  readonly masterKeys: readonly Buffer[];
  readonly limits: PlanLimits;
  /** The built-in provider where none is named. */
  readonly lookup?: LookupSettings;
  /** Where files are kept; as with no variable set where none is named. */
  readonly files?: FilesPlace;
  /** Where mail goes; likewise. */
  readonly mail?: PostboxPlace;
  /** Ranges beside the public internet that photos may come from. */
  readonly imageAllowAddresses?: readonly string[];
  /** Ranges beside the public internet that events may be delivered to. */
  readonly webhookAllowAddresses?: readonly string[];
  /** Hears that deliveries were queued. */
  readonly hintDeliveries?: Service['hintDeliveries'];
  /** As the outside sees this server. */
  readonly baseUrl?: string;
  /** As the outside sees the DMS. */
  readonly dmsUrl?: string;
  readonly clock?: Service['clock'];
  /** Business connections of this process. */
  readonly connections?: number;
}

/** Opens what a process holds as long as it runs. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { log, databaseUrl, masterKeys, limits, lookup, files, mail, baseUrl, dmsUrl, clock, connections } = options;
  const { imageAllowAddresses = [], webhookAllowAddresses = [] } = options;
  const ownHosts = baseUrl ? [new URL(baseUrl).hostname] : [];
  return {
    log,
    pools: connect(databaseUrl, connections),
    queue: await openQueue(databaseUrl),
    keyring: keyring(masterKeys),
    files: openStore(files ?? readConfig({}).files),
    mail: openPostbox(mail ?? readConfig({}).mail),
    photosFrom: { names: systemNames(), allow: imageAllowAddresses, ownHosts },
    webhooksTo: { names: rememberedNames(systemNames()), allow: webhookAllowAddresses, ownHosts },
    hintDeliveries: options.hintDeliveries ?? (() => undefined),
    limits,
    baseUrl: baseUrl ?? readConfig({}).baseUrl,
    dmsUrl: dmsUrl ?? readConfig({}).dmsUrl,
    lookup: lookup ? openLookup(lookup, log) : builtinLookup,
    clock: clock ?? (() => null),
  };
}

export async function closeService({ pools, queue, mail }: Service): Promise<void> {
  await mail.close();
  await queue.close();
  await pools.end();
}
