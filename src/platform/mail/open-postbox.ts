import { folderPostbox } from './outbox.ts';
import type { Postbox, PostboxPlace } from './postbox.ts';
import { serverPostbox } from './smtp.ts';

export const openPostbox = (place: PostboxPlace): Postbox => (place.kind === 'server' ? serverPostbox(place) : folderPostbox(place));
