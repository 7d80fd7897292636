import type { FieldErrors } from '#platform/errors.ts';
import { invalidFields, Refusal } from '#platform/errors.ts';
import type { Image, ImagesImport, PublicImage, WantedPhoto } from './contract.ts';

// What a gallery is and what a write makes of it. Pure.

/** A photo as it is kept. */
export interface Photo {
  readonly id: string;
  readonly file: string;
  readonly width: number;
  readonly height: number;
  readonly alt: string | null;
  readonly source_url: string | null;
}

/** A place in the gallery that is asked for: taken by a photo that is there, or to be filled. */
export type Place = { readonly photo: Photo } | { readonly url: string; readonly alt: string | null };

export const isOpen = (place: Place): place is Exclude<Place, { photo: Photo }> => !('photo' in place);

/**
 * The gallery that is asked for. An address that a photo came from means that photo, once; an id that is none of the vehicle's is refused.
 */
export function galleryFor(photos: readonly Photo[], wanted: readonly WantedPhoto[]): Place[] {
  const left = new Map(photos.map((photo) => [photo.id, photo]));
  const errors: FieldErrors = {};
  const taken = (photo: Photo, alt: string | null | undefined): Place => {
    left.delete(photo.id);
    return { photo: alt === undefined || alt === photo.alt ? photo : { ...photo, alt } };
  };
  // Named photos first, so that an address further up does not take them.
  const named = wanted.map((one, i) => {
    if (typeof one === 'string' || !('id' in one)) return null;
    const photo = left.get(one.id);
    if (photo) return taken(photo, one.alt);
    errors[`images.${i}.id`] = [photos.some(({ id }) => id === one.id) ? 'Named twice.' : 'The vehicle has no such photo.'];
    return null;
  });
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return wanted.flatMap((one, i) => {
    const kept = named[i];
    if (kept) return [kept];
    if (typeof one !== 'string' && 'id' in one) return [];
    const { url, alt } = typeof one === 'string' ? { url: one, alt: undefined } : one;
    const known = [...left.values()].find(({ source_url }) => source_url === url);
    return [known ? taken(known, alt) : { url, alt: alt ?? null }];
  });
}

/** http only comes from addresses the operator allows; where there are none it is an error of shape. */
export function wrongByScheme(wanted: readonly WantedPhoto[] | null | undefined, httpAllowed: boolean): FieldErrors {
  if (httpAllowed) return {};
  const urls = (wanted ?? []).map((one) => (typeof one === 'string' ? one : 'url' in one ? one.url : null));
  return Object.fromEntries(urls.flatMap((url, i) => (url?.startsWith('http:') ? [[`images.${i}`, ['Photos come by https.']]] : [])));
}

export const isImporting = ({ images_import }: { readonly images_import: ImagesImport | null }): boolean =>
  images_import?.state === 'running';

/** Single photos are not moved under a staged import. */
export function checkNotImporting(vehicle: { readonly images_import: ImagesImport | null }): void {
  if (!isImporting(vehicle)) return;
  throw new Refusal('stock_busy', 'Photos of this vehicle are being imported. Retry when `images_import` says that it has ended.', {
    retryAfterSeconds: 5,
  });
}

/** The files of one photo in the store. */
export const filesOf = ({ file }: Pick<Photo, 'file'>) => ({
  full: `photos/${file.slice(0, 2)}/${file}.jpg`,
  thumbnail: `photos/${file.slice(0, 2)}/${file}-thumbnail.jpg`,
});

/** A photo as everyone may see it. */
export function toPublicImage(photo: Photo, position: number, addressOf: (file: string) => string): PublicImage {
  const { full, thumbnail } = filesOf(photo);
  const { id, width, height, alt } = photo;
  return { id, url: addressOf(full), thumbnail_url: addressOf(thumbnail), width, height, position, alt };
}

export const toImage = (photo: Photo, position: number, addressOf: (file: string) => string): Image => ({
  ...toPublicImage(photo, position, addressOf),
  source_url: photo.source_url,
});
