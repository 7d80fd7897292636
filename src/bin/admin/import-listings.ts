import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';
import { apiClient } from './api-client.ts';
import type { Listing, Reason } from './listings.ts';
import { reasons, toVehicle } from './listings.ts';
import { countRows, nameOfFile, rowsOf } from './listings-file.ts';
import { progressBar } from './progress-bar.ts';
import type { NewVehicle } from './vehicle-batches.ts';
import { writeVehicles } from './vehicle-batches.ts';

export interface ListingsImport {
  readonly dealer: string;
  readonly file: string;
  readonly api: string;
  readonly key: string;
}

export interface Imported {
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  /** How many rows were not taken over as they stand, by reason. */
  readonly adjusted: Readonly<Partial<Record<Reason, number>>>;
  readonly seconds: number;
}

/** Imports a file of listings as any client of the API would, and says what became of its rows. */
export async function importListings({ dealer, file, api: address, key }: ListingsImport): Promise<Imported> {
  const startedAt = performance.now();
  const rows = await countRows(file);
  const api = apiClient(address, key);
  await checkDealer(api, dealer);

  const bar = progressBar(rows);
  const adjusted = new Map<Reason, number>();
  const warnings: string[] = [];
  const vehicles = mapped(rowsOf(file), nameOfFile(file), new Date().getUTCFullYear(), (reason, externalId, row) => {
    adjusted.set(reason, (adjusted.get(reason) ?? 0) + 1);
    if (reason === 'year_after_next_year') warnings.push(`${externalId}: the year ${row.year} lies after next year and was dropped.`);
  });
  const { failures, ...counts } = await writeVehicles(api, vehicles, { run: randomUUID(), onProgress: bar.show, sleep: delay }).finally(
    bar.end,
  );

  for (const warning of warnings) console.error(`Warning: ${warning}`);
  for (const [reason, count] of adjusted) console.error(`Adjusted: ${count.toLocaleString('en-GB')} × ${reasons[reason]}.`);
  for (const failure of failures) console.error(`Failed: ${failure}`);
  if (counts.failed > failures.length) console.error(`… and ${counts.failed - failures.length} more failed.`);
  return { ...counts, adjusted: Object.fromEntries(adjusted), seconds: Math.round((performance.now() - startedAt) / 100) / 10 };
}

/** A key of another dealership would fill the wrong forecourt. */
async function checkDealer(api: ApiClient, dealer: string): Promise<void> {
  const { data } = await api.get<{ data: { dealer_code?: string } }>('/v1/me');
  if (data.dealer_code === undefined) throw new Error('Writing vehicles needs a secret key; this one is publishable.');
  if (data.dealer_code !== dealer.trim().toLowerCase())
    throw new Error(`The key opens the dealership "${data.dealer_code}", not "${dealer}".`);
}

async function* mapped(
  rows: AsyncIterable<Listing>,
  fileName: string,
  thisYear: number,
  onAdjusted: (reason: Reason, externalId: string, row: Listing) => void,
): AsyncGenerator<NewVehicle> {
  let number = 0;
  for await (const row of rows) {
    number++;
    const externalId = `${fileName}:${number}`;
    const { vehicle, adjusted } = toVehicle(row, externalId, thisYear);
    for (const reason of adjusted) onAdjusted(reason, externalId, row);
    yield vehicle;
  }
}
