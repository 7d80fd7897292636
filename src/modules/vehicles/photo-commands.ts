import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Tombstone, Upload } from '#platform/contract.ts';
import { toDateTime } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import type { Picture } from '#platform/files/picture.ts';
import { NotAPicture, readPicture } from '#platform/files/picture.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Image, Vehicle } from './contract.ts';
import { photosMost } from './contract.ts';
import type { KeptPicture } from './photo-files.ts';
import { keepPicture } from './photo-files.ts';
import type { Photo } from './photo-gallery.ts';
import { checkNotImporting, toImage } from './photo-gallery.ts';
import type { VehicleRow } from './queries.ts';
import { visibleVehicle } from './queries.ts';
import { vehicleView } from './view.ts';
import { saveSettled } from './write.ts';

/** Reads and keeps an uploaded picture, with no transaction open. It is nobody's photo yet. */
export async function receivePhoto(ctx: Context, vehicleId: string, file: Upload): Promise<KeptPicture> {
  checkRoomFor(1, (await standing(ctx, vehicleId)).images);
  const picture = await readPicture(file.bytes).catch((error: unknown) => {
    if (error instanceof NotAPicture) throw invalid('file', error.message);
    throw error;
  });
  return keepPicture(ctx, vehicleId, picture);
}

/** Adds a kept picture to the end of the gallery. */
export async function addPhoto(ctx: Context, vehicleId: string, kept: KeptPicture, alt: string | null): Promise<Image> {
  const { images } = await addToGallery(ctx, vehicleId, [{ ...kept, alt }]);
  return toImage(images.at(-1)!, images.length - 1, ctx.service.files.addressOf);
}

/** Keeps pictures, with no transaction open, and adds them to the end of the gallery with one write. */
export async function addPictures(ctx: Context, vehicleId: string, pictures: readonly NewPicture[]): Promise<void> {
  const kept = await Promise.all(pictures.map(async ({ picture, alt }) => ({ ...(await keepPicture(ctx, vehicleId, picture)), alt })));
  await addToGallery(ctx, vehicleId, kept);
}

export interface NewPicture {
  readonly picture: Picture;
  readonly alt: string | null;
}

const addToGallery = (ctx: Context, vehicleId: string, added: readonly (KeptPicture & { alt: string | null })[]): Promise<VehicleRow> =>
  changeGallery(ctx, vehicleId, (photos, tx) => {
    checkRoomFor(added.length, photos);
    return [...photos, ...added.map((one) => ({ id: uuidv7(tx.now), ...one, source_url: null }))];
  });

/** Puts the gallery in another order, which names every photo once. */
export async function orderPhotos(ctx: Context, vehicleId: string, ids: readonly string[]): Promise<Vehicle> {
  const vehicle = await changeGallery(ctx, vehicleId, (photos) => {
    const ordered = ids.flatMap((id) => photos.filter((photo) => photo.id === id));
    if (ordered.length !== photos.length || ids.length !== photos.length || new Set(ids).size !== ids.length) {
      throw invalid('image_ids', 'Every photo of the vehicle, once.');
    }
    return ordered;
  });
  return vehicleView(readerOf(ctx))(vehicle);
}

/** Takes a photo out of the gallery. */
export async function removePhoto(ctx: Context, vehicleId: string, photoId: string): Promise<Tombstone> {
  const { updated_at } = await changeGallery(ctx, vehicleId, (photos) => {
    if (!photos.some(({ id }) => id === photoId)) throw new Refusal('not_found');
    return photos.filter(({ id }) => id !== photoId);
  });
  return { id: photoId, deleted: true, deleted_at: toDateTime(updated_at) };
}

async function changeGallery(
  ctx: Context,
  vehicleId: string,
  change: (photos: readonly Photo[], tx: Context) => Photo[],
): Promise<VehicleRow> {
  return inTransaction(
    ctx,
    async (tx) => {
      const vehicle = await standing(tx, vehicleId);
      return saveSettled(tx, vehicle, { ...vehicle, images: change(vehicle.images, tx) });
    },
    'stock_busy',
  );
}

async function standing(ctx: Context, vehicleId: string): Promise<VehicleRow> {
  const vehicle = await visibleVehicle(ctx, vehicleId);
  if (!vehicle) throw new Refusal('not_found');
  checkNotImporting(vehicle);
  return vehicle;
}

function checkRoomFor(more: number, { length }: readonly Photo[]): void {
  if (length + more > photosMost) throw invalid('file', `The vehicle has ${length} photos already.`);
}
