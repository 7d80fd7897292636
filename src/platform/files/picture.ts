import { availableParallelism } from 'node:os';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { turnstile } from '../turnstile.ts';

/** A picture as it is kept and shown: upright, in sRGB, as JPEG, without anything its file said beside the picture. */
export interface Picture {
  readonly full: Buffer;
  readonly thumbnail: Buffer;
  /** Of the full one. */
  readonly width: number;
  readonly height: number;
}

/** What was given is no picture we take; the text says why. */
export class NotAPicture extends Error {}

export const pictureType = 'image/jpeg';

const mostPixels = 60_000_000;
/** Rows are read some at a time: 60 million pixels in two rows took 3 GB, in rows of 20,000 they take 190 MB. */
const mostSide = 20_000;
/** A picture that is stored in passes is held as a whole: bytes of that. */
const mostHeld = 200_000_000;
/** Each is the time of a whole picture; encoders write about ten. */
const mostScans = 100;
const fullSide = 2048;
const thumbnailSide = 480;

// One thread to a picture, nothing remembered, and no decoder within reach but these few, whatever a file claims to be.
sharp.concurrency(1);
sharp.cache(false);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['Jpeg', 'Png', 'Webp', 'Heif'].map((format) => `VipsForeignLoad${format}Buffer`) });

/** Reading one takes a processor and up to a few hundred megabytes: half the processors, so that requests are answered meanwhile. */
const atOnce = turnstile(Math.max(1, Math.floor(availableParallelism() / 2)));

/** Reads a picture of any sound JPEG, PNG or WebP file, and of HEIC where the installed library decodes it. Rejects with `NotAPicture`. */
export const readPicture = (bytes: Buffer): Promise<Picture> => atOnce(() => read(bytes));

const drawn = { operation: ['VipsForeignLoadSvgBuffer'] };
let drawing = 0;

/**
 * A drawing of the product's own, an SVG, as a file that `readPicture` takes. The library reads SVG only while one is drawn, and what comes from
 * outside is refused by its first bytes all the same.
 */
export const drawPicture = (svg: string): Promise<Buffer> =>
  atOnce(async () => {
    if (drawing++ === 0) sharp.unblock(drawn);
    try {
      return await sharp(Buffer.from(svg)).removeAlpha().png({ compressionLevel: 1 }).toBuffer();
    } finally {
      if (--drawing === 0) sharp.block(drawn);
    }
  });

async function read(bytes: Buffer): Promise<Picture> {
  const format = formatOf(bytes);
  if (format === null)
    throw new NotAPicture(isSvg(bytes) ? 'SVG is not a photo: send JPEG, PNG or WebP.' : 'Not a JPEG, PNG or WebP file.');
  try {
    checkPicture(await opened(bytes).metadata());
    if (format === 'jpeg' && scansOf(bytes) > mostScans) throw new NotAPicture(`A JPEG of more than ${mostScans} scans.`);
    const upright = opened(bytes).autoOrient().flatten({ background: '#ffffff' });
    const { data: full, info } = await written(upright, fullSide, 82);
    const { data: thumbnail } = await written(opened(full), thumbnailSide, 76);
    return { full, thumbnail, width: info.width, height: info.height };
  } catch (error) {
    if (error instanceof NotAPicture) throw error;
    throw new NotAPicture(whyNot(error as Error, format), { cause: error });
  }
}

const opened = (bytes: Buffer): Sharp =>
  sharp(bytes, { failOn: 'error', limitInputPixels: mostPixels, sequentialRead: true }).timeout({ seconds: 20 });

const written = (picture: Sharp, side: number, quality: number) =>
  picture
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .jpeg({ quality })
    .toBuffer({ resolveWithObject: true });

function checkPicture(picture: Metadata): void {
  const { pages = 1, width, height, compression, isProgressive } = picture;
  if (width * height > mostPixels) throw new NotAPicture(tooLarge);
  if (Math.max(width, height) > mostSide) throw new NotAPicture(`A side of more than ${mostSide.toLocaleString('en')} pixels.`);
  if (isProgressive && width * height * bytesOfPixel(picture) > mostHeld)
    throw new NotAPicture('So many pixels are not taken progressive or interlaced.');
  if (compression === 'av1') throw new NotAPicture('AVIF is not taken: send JPEG, PNG or WebP.');
  if (pages > 1) throw new NotAPicture('An animated picture is not a photo.');
}

/** While the passes come in. A JPEG's samples take two bytes each then, whatever their depth. */
function bytesOfPixel({ format, channels, chromaSubsampling, depth }: Metadata): number {
  const samples = chromaSubsampling === '4:2:0' ? channels / 2 : channels;
  return samples * (format === 'jpeg' || depth === 'ushort' ? 2 : 1);
}

const tooLarge = `More than ${mostPixels / 1_000_000} million pixels.`;

function whyNot({ message }: Error, format: Format): string {
  if (/pixel limit/i.test(message)) return tooLarge;
  if (/timeout/i.test(message)) return 'Reading it took too long.';
  return format === 'heic' ? 'HEIC is not decoded here: send JPEG, PNG or WebP.' : 'The file is damaged or incomplete.';
}

type Format = 'jpeg' | 'png' | 'webp' | 'heic';

/** By the first bytes, whatever the file is called and whoever says what it is. */
function formatOf(bytes: Buffer): Format | null {
  const ascii = (from: number, to: number) => bytes.toString('latin1', from, to);
  if (ascii(0, 3) === '\xff\xd8\xff') return 'jpeg';
  if (ascii(0, 8) === '\x89PNG\r\n\x1a\n') return 'png';
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return 'webp';
  return ascii(4, 8) === 'ftyp' && /^(heic|heix|heim|heis|hevc|hevx|mif1|msf1|avif)$/.test(ascii(8, 12)) ? 'heic' : null;
}

/** How often a JPEG goes over its picture. What looks like a scan inside another segment, or after the end, is none. */
function scansOf(bytes: Buffer): number {
  let scans = 0;
  for (let at = bytes.indexOf(0xff); at >= 0 && at + 3 < bytes.length && bytes[at + 1] !== endOfImage; at = bytes.indexOf(0xff, at)) {
    const marker = bytes[at + 1]!;
    if (marker === startOfScan) scans++;
    if (marker === 0xff) at += 1;
    else at += standsAlone(marker) ? 2 : 2 + bytes.readUInt16BE(at + 2);
  }
  return scans;
}

const endOfImage = 0xd9;
const startOfScan = 0xda;
const standsAlone = (marker: number): boolean => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8);

const isSvg = (bytes: Buffer): boolean => /<svg[\s>]/i.test(bytes.toString('latin1', 0, 4096));
