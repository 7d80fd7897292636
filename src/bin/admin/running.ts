import { runningEmbedded } from '#platform/db/embedded.ts';
import { createLog } from '#platform/log.ts';
import type { Service } from '#platform/service.ts';
import { readConfig } from '../../app/config.ts';
import { loadMasterKeys } from '../../app/master-key.ts';
import { closeService, openService } from '../../app/service.ts';

/** Does the work on the database of the running product. */
export async function runningService<T>(work: (service: Service) => Promise<T>): Promise<T> {
  const config = readConfig(process.env);
  const databaseUrl = config.databaseUrl ?? (await runningEmbedded(config.dataDir));
  if (databaseUrl === null) {
    throw new Error(`Nothing runs on ${config.dataDir}. Start Forecourt with "npm start", or set DATABASE_URL to its database.`);
  }
  const service = await openService({
    log: createLog({ level: config.logLevel }),
    databaseUrl,
    masterKeys: loadMasterKeys(config),
    limits: config.limits,
    files: config.files,
    connections: 2,
  });
  try {
    return await work(service);
  } finally {
    await closeService(service);
  }
}
