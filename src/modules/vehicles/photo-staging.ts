import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { enqueue, job } from '#platform/jobs/job.ts';
import { uuidv7 } from '#platform/secrets.ts';
import { completeWhenFinal } from './batch-completion.ts';
import type { Settled } from './changes.ts';
import type { FailedPhoto } from './contract.ts';
import { isImporting, isOpen } from './photo-gallery.ts';
import type { ItemOutcome } from './photo-queries.ts';
import * as rows from './photo-queries.ts';

// What a write of vehicles does about their photos. All of it inside the write's transaction.

/** Fetches the photos of one vehicle. Several at once, since most of the time is waiting, and few of them of one dealership. */
export const importPhotos = job('vehicles.import_photos', z.strictObject({ importId: z.string() }), {
  atOnce: 8,
  perDealer: 2,
  key: ({ importId }) => importId,
});

/** Ends the imports that these writes leave without a purpose: another gallery is asked for, or the vehicle is gone. */
export async function endImports(tx: Context, writes: readonly Settled[]): Promise<void> {
  const superseded = writes.filter(({ before, after, gallery }) => before && isImporting(before) && (gallery || after.deleted_at !== null));
  if (superseded.length === 0) return;
  const ended = await rows.deleteImports(
    tx,
    superseded.map(({ after }) => after.id),
  );
  const failed = new Map<string, FailedPhoto[]>();
  const outcomes: ItemOutcome[] = [];
  for (const { vehicle_id, batch_id, batch_index, urls } of ended) {
    const reasons = urls.map((url) => ({ url, reason: 'A later write of the vehicle ended the import.' }));
    failed.set(vehicle_id, reasons);
    if (batch_id === null || batch_index === null) continue;
    outcomes.push({ batchId: batch_id, index: batch_index, images: { requested: urls.length, imported: 0, failed: reasons } });
  }
  for (const { after } of superseded) {
    if (after.images_import && !isImporting(after)) after.images_import = { ...after.images_import, failed: failed.get(after.id) ?? [] };
  }
  await finishItems(tx, outcomes);
}

/** Begins the imports that these writes ask for, and says which files are shown from now on. */
export async function beginImports(tx: Context, writes: readonly Settled[]): Promise<void> {
  const galleries = writes
    .filter(({ before, after }) => (before?.images ?? none) !== after.images || (after.deleted_at !== null && after.images.length > 0))
    .map(({ after: { id, images, deleted_at } }) => ({ id, files: deleted_at === null ? images.map(({ file }) => file) : [] }))
    .filter(({ id, files }) => files.length > 0 || writes.some(({ before }) => before?.id === id));
  if (galleries.length > 0) await rows.markFiles(tx, galleries);

  const imports = writes.flatMap(({ after, gallery }) =>
    gallery?.places.some(isOpen) ? [{ id: uuidv7(tx.now), vehicleId: after.id, places: gallery.places, forItem: gallery.forItem }] : [],
  );
  if (imports.length === 0) return;
  await rows.insertImports(tx, imports);
  await Promise.all(imports.map(({ id }) => enqueue(tx, importPhotos, { importId: id })));
}

const none: readonly never[] = [];

/** Makes the items final whose photos have ended, and with them perhaps their batches. */
export async function finishItems(tx: Context, outcomes: readonly ItemOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  for (const batchId of await rows.finishItems(tx, outcomes)) await completeWhenFinal(tx, batchId);
}
