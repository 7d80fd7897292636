import type { Logger } from 'pino';
import type { Instant } from './dates.ts';
import type { Pools } from './db/connect.ts';
import type { FileStore } from './files/store.ts';
import type { Queue } from './jobs/queue.ts';
import type { VehicleLookup } from './lookup/lookup.ts';
import type { Postbox } from './mail/postbox.ts';
import type { Vetting } from './net/public-address.ts';
import type { Keyring } from './secrets.ts';

/** The plan limits an operator may set. */
export interface PlanLimits {
  readonly freeStockCap: number;
  readonly sandboxStockCap: number;
  readonly sandboxStockShare: number;
  readonly themeQuotaStandard: number;
  readonly themeQuotaProfessional: number;
}

/** What a process holds for as long as it runs. */
export interface Service {
  readonly log: Logger;
  readonly pools: Pools;
  readonly queue: Queue;
  readonly keyring: Keyring;
  /** Which vehicle has a registration; never asked inside a transaction. */
  readonly lookup: VehicleLookup;
  readonly files: FileStore;
  /** Never posted to inside a transaction: that is a job, `sendMail`. */
  readonly mail: Postbox;
  /** Which addresses photos may come from. */
  readonly photosFrom: Vetting;
  /** Which addresses events may be delivered to. */
  readonly webhooksTo: Vetting;
  /** Tells whoever delivers that there is something to deliver. A hint: what it says is looked for all the same, a little later. */
  readonly hintDeliveries: () => void;
  readonly limits: PlanLimits;
  /** As the outside sees the API. */
  readonly baseUrl: string;
  /** As the outside sees the DMS. */
  readonly dmsUrl: string;
  /** The time a test has set; `null` lets the database's clock speak. */
  readonly clock: () => Instant | null;
}
