import { crc32 } from 'node:zlib';
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
