import { bucketStore } from './bucket.ts';
import { folderStore } from './folder.ts';
import type { FileStore, FilesPlace } from './store.ts';

export const openStore = (place: FilesPlace): FileStore => (place.kind === 'folder' ? folderStore(place) : bucketStore(place));
