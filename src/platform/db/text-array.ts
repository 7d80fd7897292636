/** The type `text`, as PostgreSQL numbers it. */
const textType = 25;

/** Texts as a parameter of type `text[]` in PostgreSQL's binary form. Large ones are neither quoted here nor read letter by letter there. */
export function textArray(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const array = Buffer.allocUnsafe(20 + sizes.reduce((sum, size) => sum + 4 + size, 0));
  // One dimension, no nulls, the type; how many, and that they count from 1.
  const head = texts.length === 0 ? [0, 0, textType] : [1, 0, textType, texts.length, 1];
  let at = head.reduce((offset, value) => array.writeInt32BE(value, offset), 0);
  for (const [index, text] of texts.entries()) {
    at = array.writeInt32BE(sizes[index]!, at);
    at += array.write(text, at);
  }
  return array.subarray(0, at);
}
