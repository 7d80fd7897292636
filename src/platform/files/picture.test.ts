import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp, { type Sharp } from 'sharp';
import { claiming, jpeg, noisy, plain, png, strip, withScans, withSegment } from '../../../test/support/pictures.ts';
import { script, start } from '../../../test/support/processes.ts';
import { drawPicture, NotAPicture, readPicture } from './picture.ts';

test('JPEG, PNG and WebP become JPEG in two sizes', async () => {
  const wide = plain({ width: 3000, height: 1500 });
  for (const bytes of [await wide.jpeg().toBuffer(), await wide.png().toBuffer(), await wide.webp().toBuffer()]) {
    const { full, thumbnail, width, height } = await readPicture(bytes);
    assert.deepEqual([width, height], [2048, 1024]);
    const shown = await sharp(full).metadata();
    assert.deepEqual([shown.format, shown.width, shown.height, shown.space], ['jpeg', 2048, 1024, 'srgb']);
    const small = await sharp(thumbnail).metadata();
    assert.deepEqual([small.format, small.width, small.height], ['jpeg', 480, 240]);
  }
  const { width, height } = await readPicture(await jpeg({ width: 320, height: 240 }));
  assert.deepEqual([width, height], [320, 240], 'a small one is not made larger');
});

test('whichever way a picture lies, it becomes upright, and nothing its file said beside it is kept, of any kind and format', async () => {
  const [width, height] = [40, 20];
  const corners = ['red', 'lime', 'blue', 'yellow'];
  const quarter = (background: string, at: number) => ({
    input: { create: { width: 20, height: 10, channels: 3 as const, background } },
    left: (at % 2) * 20,
    top: Math.floor(at / 2) * 10,
  });
  const upright = await plain({ width, height }).composite(corners.map(quarter)).png().toBuffer();
  const turned = (degrees: number) => sharp(upright).rotate(degrees).png().toBuffer();
  // As each orientation has it stored.
  const stored = [
    upright,
    await sharp(upright).flop().png().toBuffer(),
    await turned(180),
    await sharp(upright).flip().png().toBuffer(),
    await sharp(await turned(90))
      .flop()
      .png()
      .toBuffer(),
    await turned(270),
    await sharp(await turned(270))
      .flop()
      .png()
      .toBuffer(),
    await turned(90),
  ];
  const said = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><place>Some Place</place></x:xmpmeta>';
  const formats: ((picture: Sharp) => Promise<Buffer>)[] = [
    async (picture) => withSegment(await picture.jpeg({ quality: 95 }).toBuffer(), 0xed, Buffer.from(iptc, 'latin1')),
    (picture) => picture.png().toBuffer(),
    (picture) => picture.webp({ lossless: true }).toBuffer(),
  ];
  for (const format of formats)
    for (const [at, bytes] of stored.entries()) {
      const given = await format(
        sharp(bytes)
          .withIccProfile('p3')
          .withXmp(said)
          .withExif({ IFD0: { Make: 'Some Camera' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } })
          .withMetadata({ orientation: at + 1 }),
      );
      const before = await sharp(given).metadata();
      assert.ok(before.orientation === at + 1 && before.exif && before.icc && before.xmp, `${before.format} ${at + 1}`);
      assert.equal(before.iptc !== undefined, before.format === 'jpeg');
      const picture = await readPicture(given);
      for (const shown of [picture.full, picture.thumbnail]) {
        const { exif, icc, iptc, xmp, orientation, ...after } = await sharp(shown).metadata();
        assert.deepEqual([exif, icc, iptc, xmp, orientation], [undefined, undefined, undefined, undefined, undefined]);
        assert.deepEqual([after.width, after.height], [width, height], `${before.format} ${at + 1}`);
        assert.ok(!/Some (Camera|Place)|Photoshop/.test(shown.toString('latin1')));
        assert.deepEqual(await cornersOf(shown), corners, `${before.format} ${at + 1}`);
      }
    }
});

const iptc = 'Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x0f\x1c\x02\x5a\0\x0aSome Place\0';

/** What colour is in the middle of each quarter. */
async function cornersOf(bytes: Buffer): Promise<string[]> {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const named = { red: '100', lime: '010', blue: '001', yellow: '110' };
  const at = (x: number, y: number) => [0, 1, 2].map((channel) => Number(data[(y * info.width + x) * 3 + channel]! > 127)).join('');
  const found = [at(10, 5), at(30, 5), at(10, 15), at(30, 15)];
  return found.map((colour) => Object.entries(named).find(([, bits]) => bits === colour)?.[0] ?? colour);
}

test('what is transparent becomes white', async () => {
  const clear = await sharp({ create: { width: 10, height: 10, channels: 4, background: '#0000' } })
    .png()
    .toBuffer();
  const { data } = await sharp((await readPicture(clear)).full)
    .raw()
    .toBuffer({ resolveWithObject: true });
  assert.ok(data.every((value) => value > 250));
});

test('the same picture becomes the same bytes', async () => {
  const bytes = await noisy(600, 400).jpeg().toBuffer();
  assert.deepEqual((await readPicture(bytes)).full, (await readPicture(bytes)).full);
});

test('what is no photo is refused, whatever it claims to be', async () => {
  const whole = await noisy(600, 400).jpeg().toBuffer();
  const png = await noisy(600, 400).png().toBuffer();
  const webp = await noisy(600, 400).webp().toBuffer();
  const frames = await sharp([await jpeg(), await jpeg({ colour: 'red' })], { join: { animated: true } })
    .webp()
    .toBuffer();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10"/></svg>';
  const heic = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic\0\0\0\0mif1heic'), Buffer.alloc(200)]);
  const refused: [string, Buffer, RegExp][] = [
    ['nothing', Buffer.alloc(0), /^Not a JPEG/],
    ['a text', Buffer.from('<html>Not found</html>'), /^Not a JPEG/],
    ['an SVG', Buffer.from(svg), /^SVG/],
    ['an SVG with a declaration', Buffer.from(`<?xml version="1.0"?>${svg}`), /^SVG/],
    ['a GIF', await plain().gif().toBuffer(), /^Not a JPEG/],
    ['a TIFF', await plain().tiff().toBuffer(), /^Not a JPEG/],
    ['an AVIF', await plain({ width: 64, height: 64 }).avif().toBuffer(), /^AVIF/],
    ['a HEIC, which this library does not decode', heic, /^HEIC/],
    ['a truncated JPEG', whole.subarray(0, whole.length / 2), /damaged or incomplete/],
    ['a truncated PNG', png.subarray(0, png.length / 2), /damaged or incomplete/],
    ['a truncated WebP', webp.subarray(0, webp.length / 2), /damaged or incomplete/],
    ['the beginning of a JPEG alone', whole.subarray(0, 3), /damaged or incomplete/],
    ['an SVG that begins as a JPEG', Buffer.concat([whole.subarray(0, 3), Buffer.from(svg)]), /damaged or incomplete/],
    ['a PNG of 100,000 by 100,000 pixels', await claiming(100_000, 100_000), /million pixels/],
    ['a PNG of 60 million pixels and a row', await claiming(10_000, 6_001), /million pixels/],
    ['an animated WebP', frames, /animated/],
    ['a PNG of 20,001 pixels in a row', await claiming(20_001, 2), /^A side of more than 20,000 pixels/],
    ['a PNG of 20,001 rows', await claiming(2, 20_001), /^A side of more than 20,000 pixels/],
    ['a large PNG to be held as a whole', deep(7_745, 7_745), /progressive or interlaced/],
    ['a large progressive JPEG', await claimingJpeg(7_000, 7_000), /progressive or interlaced/],
    ['a JPEG of very many scans', withScans(await plain().jpeg({ progressive: true }).toBuffer(), 100), /^A JPEG of more than 100 scans/],
  ];
  assert.equal((await sharp(frames).metadata()).pages, 2);
  for (const [what, bytes, why] of refused)
    await assert.rejects(readPicture(bytes), (error: Error) => error instanceof NotAPicture && why.test(error.message), what);
});

test('a drawing of the product’s own becomes a picture, and an SVG from outside is refused before, meanwhile and after', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="400"><rect width="640" height="400" fill="#00f"/></svg>';
  const outside = [Buffer.from(svg), Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.from(svg)])];
  const refused = () => Promise.all(outside.map((bytes) => assert.rejects(readPicture(bytes), NotAPicture)));
  await refused();
  const [file] = await Promise.all([drawPicture(svg), refused(), drawPicture(svg), refused()]);
  const { width, height, full } = await readPicture(file);
  assert.deepEqual([width, height], [640, 400]);
  const { channels } = await sharp(full).stats();
  assert.deepEqual(
    channels.map(({ mean }) => Math.round(mean / 255)),
    [0, 0, 1],
  );
  await refused();
  await assert.rejects(sharp(Buffer.from(svg)).toBuffer(), /unsupported image format/, 'the library reads SVG no more');
});

/** An interlaced PNG of 8 bytes to a pixel that claims to be as large as is said. */
const deep = (width: number, height: number): Buffer =>
  png({ width, height, bits: 16, colourType: 6, interlaced: true }, Buffer.alloc(100));

/** A progressive JPEG with no sample left out, that claims to be as large as is said. */
async function claimingJpeg(width: number, height: number): Promise<Buffer> {
  const bytes = await plain().jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer();
  const frame = bytes.indexOf('\xff\xc2', 0, 'latin1');
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return bytes;
}

test('what only looks like scans is none', async () => {
  const scan = Buffer.from('\xff\xda'.repeat(200), 'latin1');
  await readPicture(Buffer.concat([withSegment(await plain().jpeg({ progressive: true }).toBuffer(), 0xe7, scan), scan]));
});

test('no picture, taken or refused, takes the memory of a machine', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-pictures-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, bytes, said] of [
    ['two-rows', strip(30_000_000, 2), /A side/],
    ['sixty-rows', strip(1_000_000, 60), /A side/],
    ['broad', strip(20_000, 3_000), /taken/],
    ['high', strip(3_000, 20_000), /taken/],
  ] as const) {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    const { url: line } = await start(t, script('picture-process.ts'), { PICTURE: path, MALLOC_ARENA_MAX: '2' });
    const [, megabytes = '', answer = ''] = /^(\d+) MB: (.*)$/.exec(line) ?? [];
    assert.match(answer, said, name);
    assert.ok(Number(megabytes) < 350, `${name}: ${line}`);
  }
});
