import assert from 'node:assert/strict';

/** Sees to it that the bare server answers as the API does, byte for byte as much. Returns how much that is. */
export async function sameAnswer(api: string, bare: string, path: string, headers: Record<string, string>): Promise<number> {
  const [ours, theirs] = await Promise.all([read(api + path, headers), read(bare + path)]);
  assert.deepEqual(JSON.parse(ours), JSON.parse(theirs), 'The bare server writes the same answer.');
  assert.equal(ours.length, theirs.length);
  return ours.length;
}

async function read(url: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(url, { headers });
  assert.equal(response.status, 200, url);
  return response.text();
}
