// Puts one large file again and again, so that a test can kill it while it writes. Prints a line when it begins.
import { openStore } from '#platform/files/open-store.ts';

const { FILES: folder = '', FILE_NAME: name = '' } = process.env;
const files = openStore({ kind: 'folder', folder, addresses: '' });
console.log('writes');
for (;;) await files.put(name, Buffer.alloc(100_000_000), 'image/jpeg');
