import { vehicleListQuery } from '#modules/vehicles/contract.ts';
import { addPictures, listVehicles } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { Refusal } from '#platform/errors.ts';
import type { Picture } from '#platform/files/picture.ts';
import { drawPicture, readPicture } from '#platform/files/picture.ts';
import { turnstile } from '#platform/turnstile.ts';
import type { Drawing } from './drawings/drawings.ts';

/** Pictures of drawings, each drawn once however many vehicles it shows. */
export type Album = (drawing: Drawing) => Promise<Picture>;

export function openAlbum(): Album {
  const pictures = new Map<string, Promise<Picture>>();
  // A few at a time: those asked for first are then ready first.
  const inOrder = turnstile(3);
  return ({ name, svg }) => {
    const picture = pictures.get(name) ?? inOrder(async () => readPicture(await drawPicture(svg())));
    pictures.set(name, picture);
    return picture;
  };
}

/** Begins to draw what will be asked for. */
export function drawAhead(album: Album, drawings: readonly Drawing[]): void {
  // Whoever asks for it meets its failure.
  for (const drawing of drawings) album(drawing).catch(() => undefined);
}

/** A vehicle of the seed and what its photos show. */
export interface Sitter {
  readonly vehicle: { readonly external_id: string; readonly make: string; readonly model: string; readonly colour: string };
  readonly drawings: readonly Drawing[];
}

/** Gives a vehicle its photos, unless it has some: an earlier run may have come so far. */
export async function photograph(ctx: Context, album: Album, { vehicle, drawings }: Sitter): Promise<void> {
  const { external_id, make, model, colour } = vehicle;
  const { data } = await listVehicles(ctx, vehicleListQuery.parse({ external_id, has_images: 'false' }));
  const pictures = await Promise.all(
    drawings.map(async (drawing) => ({ picture: await album(drawing), alt: `${colour} ${make} ${model} ${drawing.view}` })),
  );
  for (const { id } of data) await addPictures(ctx, id, pictures).catch(checkStillThere);
}

/** In the sandbox others may be quicker, and take it away. */
function checkStillThere(error: unknown): void {
  if (!(error instanceof Refusal && error.code === 'not_found')) throw error;
}
