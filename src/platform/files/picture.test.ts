import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { claiming, jpeg, noisy, plain, sideways } from '../../../test/support/pictures.ts';
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

test('a picture is turned upright, and nothing its file said beside it is kept', async () => {
  const given = await sideways(400, 200);
  assert.equal((await sharp(given).metadata()).orientation, 6);
  assert.ok(given.includes('Some Camera'));
  const { full, thumbnail, width, height } = await readPicture(given);
  assert.deepEqual([width, height], [200, 400]);
  for (const bytes of [full, thumbnail]) {
    const { exif, icc, iptc, xmp, orientation } = await sharp(bytes).metadata();
    assert.deepEqual([exif, icc, iptc, xmp, orientation], [undefined, undefined, undefined, undefined, undefined]);
    assert.ok(!bytes.includes('Some Camera'));
  }
});

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
  await assert.rejects(sharp(Buffer.from(svg)).toBuffer(), 'the library reads SVG no more');
});
