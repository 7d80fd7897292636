import type { Readable } from 'node:stream';

/** Where files are kept. `addresses`: what the outside puts before a file's name to read it. */
export type FilesPlace = Folder | Bucket;

export interface Folder {
  readonly kind: 'folder';
  readonly folder: string;
  readonly addresses: string;
}

/** A bucket of any service that speaks the protocol of S3. */
export interface Bucket {
  readonly kind: 'bucket';
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly addresses: string;
}

/** Keeps files that never change under names nobody guesses: whoever knows a name may read the file. */
export interface FileStore {
  /** There whole or not at all; the same again changes nothing. */
  put(name: string, bytes: Buffer, type: string): Promise<void>;
  /** Null when there is no such file. */
  open(name: string): Promise<{ readonly size: number; readonly body: Readable } | null>;
  /** Also of what is not there. */
  remove(name: string): Promise<void>;
  addressOf(name: string): string;
}

/** A name of folders and a file with its ending, none of which can lead elsewhere. */
export const isFileName = (name: string): boolean => /^[a-z0-9]+(?:\/[a-z0-9_-]+)+\.[a-z0-9]+$/.test(name) && name.length <= 200;
