// Makes the contract as it is the one that later ones may only add to: `npm run release-contract`, with every release.
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { corrections } from '../test/contract/corrections.ts';

const inDocs = (name: string) => fileURLToPath(new URL(`../docs/${name}`, import.meta.url));

if (Object.keys(corrections).length > 0) {
  console.error('Empty test/contract/corrections.ts: what it corrects is released with this.');
  process.exit(1);
}
copyFileSync(inDocs('openapi.json'), inDocs('openapi-released.json'));
