import type { Logger } from 'pino';
import { connect } from '#platform/db/connect.ts';
import { openQueue } from '#platform/jobs/queue.ts';
import { keyring } from '#platform/secrets.ts';
import type { PlanLimits, Service } from '#platform/service.ts';

export interface ServiceOptions {
  readonly log: Logger;
  readonly databaseUrl: string;
  readonly masterKeys: readonly Buffer[];
  readonly limits: PlanLimits;
  readonly clock?: Service['clock'];
  /** Business connections of this process. */
  readonly connections?: number;
}

/** Opens what a process holds as long as it runs. */
export async function openService({ log, databaseUrl, masterKeys, limits, clock, connections }: ServiceOptions): Promise<Service> {
  return {
    log,
    pools: connect(databaseUrl, connections),
    queue: await openQueue(databaseUrl),
    keyring: keyring(masterKeys),
    limits,
    clock: clock ?? (() => null),
  };
}

export async function closeService({ pools, queue }: Service): Promise<void> {
  await queue.close();
  await pools.end();
}
