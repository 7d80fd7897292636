import { z } from 'zod';
import { id, text, upload, webAddress } from '#platform/contract.ts';

/** The most photos of a vehicle. */
export const photosMost = 100;

// ---- Requests ----

const alt = text(250).nullable().optional();

/** One photo of a gallery as it is asked for: one to fetch, or one to keep. */
const wantedPhoto = z.union(
  [
    webAddress,
    z.strictObject({ url: webAddress, alt }).meta({ description: 'To be fetched.' }),
    z.strictObject({ id, alt }).meta({ description: 'To be kept. An `alt` that is absent is left.' }),
  ],
  { error: 'An https address, {"url", "alt"} or {"id", "alt"}.' },
);
export type WantedPhoto = z.output<typeof wantedPhoto>;

/** The whole gallery, in its order. */
export const wantedPhotos = z
  .array(wantedPhoto)
  .max(photosMost, { error: `At most ${photosMost} photos.` })
  .nullable()
  .describe(
    'The whole gallery in its order: addresses to fetch photos from, and ids of photos to keep. `[]` removes all. An address that a photo of the vehicle came from keeps that photo. New ones are imported in the background, and the gallery is replaced at once when all are there; see `images_import`.',
  );

/** The parts of an upload. */
export const photoUpload = z.strictObject({
  file: upload.describe(
    'JPEG, PNG or WebP, and HEIC where the installed image library decodes it; at most 25 MiB, 60 million pixels, and 20,000 on a side.',
  ),
  alt: text(250).optional(),
});

export const photoOrder = z.strictObject({
  image_ids: z
    .array(id, { error: 'A list of ids.' })
    .max(photosMost, { error: `At most ${photosMost} photos.` })
    .describe('Every photo of the vehicle, once.'),
});

export const byPhoto = z.strictObject({ id, image_id: id });

// ---- Responses ----

const uuid = z.string().meta({ format: 'uuid' });

export const publicImage = z
  .object({
    id: uuid,
    url: z.string(),
    thumbnail_url: z.string(),
    width: z.int(),
    height: z.int(),
    position: z.int().describe('From 0.'),
    alt: z.string().nullable(),
  })
  .meta({ id: 'PublicImage' });
export type PublicImage = z.output<typeof publicImage>;

export const image = publicImage
  .extend({ source_url: z.string().nullable().describe('Where it was fetched from; null for an upload.') })
  .meta({ id: 'Image', description: 'A finished photo; the order of the array is the order of the gallery.' });
export type Image = z.output<typeof image>;

const failedPhotos = z.array(z.object({ url: z.string(), reason: z.string() }));
export type FailedPhoto = z.output<typeof failedPhotos>[number];

export const imagesImport = z
  .object({ state: z.enum(['running', 'succeeded', 'failed']), requested: z.int(), failed: failedPhotos })
  .meta({ id: 'ImagesImport', description: 'The latest staged import of photos.' });
export type ImagesImport = z.output<typeof imagesImport>;

/** What became of the photos of a batch item. */
export const itemPhotos = z
  .object({ requested: z.int(), imported: z.int(), failed: failedPhotos })
  .meta({ id: 'BatchItemImages', description: 'Photos to import; `imported` is all of them or none.' });
export type ItemPhotos = z.output<typeof itemPhotos>;
