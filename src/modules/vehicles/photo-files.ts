import type { Context } from '#platform/context.ts';
import { openTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import type { Picture } from '#platform/files/picture.ts';
import { pictureType } from '#platform/files/picture.ts';
import { sha256 } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import type { Photo } from './photo-gallery.ts';
import { filesOf } from './photo-gallery.ts';
import * as rows from './photo-queries.ts';

export type KeptPicture = Pick<Photo, 'file' | 'width' | 'height'>;

/** Puts a picture in the store for a vehicle. Until a gallery shows it, the sweep may take it again. */
export async function keepPicture(ctx: Context, vehicleId: string, { full, thumbnail, width, height }: Picture): Promise<KeptPicture> {
  const kept = { file: nameOf(ctx, vehicleId, full), width, height };
  const names = filesOf(kept);
  const noted = await openTransaction(ctx, (tx) => rows.noteFile(tx, vehicleId, kept.file));
  if (!noted) throw new Refusal('stock_busy', 'The same picture is being removed at this moment. Retry shortly.', { retryAfterSeconds: 5 });
  const { files } = ctx.service;
  await Promise.all([files.put(names.full, full, pictureType), files.put(names.thumbnail, thumbnail, pictureType)]);
  return kept;
}

/** The same content of the same vehicle has the same name, and nobody without the master key can tell which. */
const nameOf = ({ service, dealer }: Context, vehicleId: string, full: Buffer): string =>
  service.keyring
    .sign('photo', `${dealer.id}/${vehicleId}/${sha256(full).toString('hex')}`)
    .toString('hex')
    .slice(0, 40);

/** Pages and events may still show what a gallery no longer does. */
const keptHours = 24;
const some = 100;

/**
 * Removes the files that no gallery has shown for a day: from the store first, so that a kill leaves none forgotten there.
 * One that cannot be removed holds up no other; the next sweep tries it again.
 */
export async function sweepPhotos(service: Service): Promise<void> {
  let failed = 0;
  for (let last: rows.UnusedFile | undefined; ; ) {
    const unused = await rows.takeUnusedFiles(service, keptHours, some, last);
    let removed = 0;
    for (const file of unused) removed += Number(await remove(service, file));
    failed += unused.length - removed;
    last = unused.at(-1);
    if (unused.length < some || removed === 0) break; // None of so many: the store is away.
  }
  if (failed > 0) throw new Error(`Files that could not be removed: ${failed}.`);
}

async function remove(service: Service, { dealer_id, file }: rows.UnusedFile): Promise<boolean> {
  const { full, thumbnail } = filesOf({ file });
  try {
    await Promise.all([service.files.remove(full), service.files.remove(thumbnail)]);
    await rows.forgetFile(service, dealer_id, file);
    return true;
  } catch (error) {
    service.log.error({ err: error, file: full }, 'file not removed');
    return false;
  }
}
