import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawPicture, readPicture } from '#platform/files/picture.ts';
import type { Body, Drawing, Look } from './drawings.ts';
import { drawingsOf } from './drawings.ts';
import { type Colour, paints } from './paint.ts';
import { sides } from './sides.ts';

const looks: Look[] = (Object.keys(sides) as Body[]).flatMap((body_type) =>
  (Object.keys(paints) as Colour[]).flatMap((colour) =>
    (['MANUAL', 'AUTOMATIC'] as const).map((transmission) => ({ body_type, colour, transmission })),
  ),
);
const all: Drawing[] = looks.flatMap((look) => Object.values(drawingsOf(look)));

test('drawings of one name are the same, and those of two names differ', () => {
  const drawn = new Map(all.map(({ name, svg }) => [name, svg()]));
  assert.equal(drawn.size, 24 + 24 + 2);
  assert.equal(new Set(drawn.values()).size, drawn.size);
  for (const { name, svg } of all) assert.equal(svg(), drawn.get(name));
});

test('nothing in a drawing depends on the machine: no letters, no other files', () => {
  for (const { name, svg } of all) assert.doesNotMatch(svg(), /<text|<image|<use|href|font|NaN|undefined|null/, name);
});

test('every kind of drawing becomes a picture of 1600 × 1000', async () => {
  const blue = looks.filter(({ colour }) => colour === 'Blue').flatMap((look) => Object.values(drawingsOf(look)));
  for (const { name, svg } of new Map(blue.map((drawing) => [drawing.name, drawing])).values()) {
    const { width, height, full } = await readPicture(await drawPicture(svg()));
    assert.deepEqual([width, height], [1600, 1000], name);
    assert.ok(full.length > 40_000, `${name} is all but empty`);
  }
});
