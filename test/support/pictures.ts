import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly colour?: string;
}

/** A picture of one colour. */
export const plain = ({ width = 320, height = 240, colour = 'teal' }: Look = {}) =>
  sharp({ create: { width, height, channels: 3, background: colour } });

/** A picture that does not compress well, as photos do not. */
export const noisy = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'grey', noise: { type: 'gaussian', mean: 128, sigma: 30 } } });

export const jpeg = (look?: Look): Promise<Buffer> => plain(look).jpeg().toBuffer();

/** A JPEG that lies on its side and says so, with a place and a camera in its metadata. */
export const sideways = (width: number, height: number): Promise<Buffer> =>
  plain({ width, height })
    .withExif({ IFD0: { Orientation: '6', Make: 'Some Camera' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();

/** A PNG that claims to be as large as is said, in a few bytes. */
export const claiming = async (width: number, height: number): Promise<Buffer> => {
  const png = await plain({ width: 1, height: 1 }).png().toBuffer();
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  png.writeUInt32BE(crc32(png.subarray(12, 29)), 29);
  return png;
};

interface Png {
  readonly width: number;
  readonly height: number;
  /** As the header says it: bits of a sample, and 0 for grey, 6 for colours with transparency. */
  readonly bits: number;
  readonly colourType: number;
  readonly interlaced: boolean;
}

/** A PNG whose header says this, with these bytes for its pixels. */
export function png({ width, height, bits, colourType, interlaced }: Png, pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bits, colourType, 0, 0, Number(interlaced)], 8);
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(pixels)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

/** A black PNG of one bit to a pixel. */
export const strip = (width: number, height: number): Buffer =>
  png({ width, height, bits: 1, colourType: 0, interlaced: false }, Buffer.alloc((1 + Math.ceil(width / 8)) * height));

/** A segment of a JPEG. */
function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** The JPEG with a segment right after its first marker. */
export const withSegment = (bytes: Buffer, marker: number, data: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, 2), segment(marker, data), bytes.subarray(2)]);

/** The JPEG with its last scan once more, so many times. */
export function withScans(bytes: Buffer, more: number): Buffer {
  const last = bytes.subarray(bytes.lastIndexOf('\xff\xda', undefined, 'latin1'), -2);
  return Buffer.concat([bytes.subarray(0, -2), ...Array<Buffer>(more).fill(last), bytes.subarray(-2)]);
}

/** A multipart body with these parts: texts, and files as bytes. */
export function multipart(parts: Record<string, string | Buffer>, boundary = 'boundary-of-a-test') {
  const chunks = Object.entries(parts).flatMap(([name, part]) => [
    Buffer.from(
      typeof part === 'string'
        ? `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`
        : `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a photo.jpg"\r\nContent-Type: image/jpeg\r\n\r\n`,
    ),
    Buffer.from(part as Buffer),
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}
