import { createLog } from '#platform/log.ts';
import type { PlanLimits } from '#platform/service.ts';

/** The plan limits as the product ships them. */
export const limits: PlanLimits = {
  freeStockCap: 25,
  sandboxStockCap: 500,
  sandboxStockShare: 50,
  themeQuotaStandard: 10,
  themeQuotaProfessional: 30,
};

/** One master key for all processes of a test. */
export const masterKeys = [Buffer.alloc(32, 7)];

/** Silent unless someone looks for a fault: `TEST_LOG=error`. */
export const silentLog = createLog({ level: (process.env.TEST_LOG ?? 'silent') as 'silent' });
