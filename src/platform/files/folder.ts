import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileStore, Folder } from './store.ts';

/** Files in a folder of this machine, or one that several machines share. */
export const folderStore = ({ folder, addresses }: Folder): FileStore => ({
  async put(name, bytes) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    // Written aside and moved: nobody ever reads half a file, whenever this process ends.
    const aside = `${path}.${randomBytes(6).toString('hex')}.new`;
    try {
      const file = await open(aside, 'wx');
      await file
        .writeFile(bytes)
        .then(() => file.sync())
        .finally(() => file.close());
      await rename(aside, path);
    } catch (error) {
      await rm(aside, { force: true });
      throw error;
    }
  },

  async open(name) {
    const file = await open(join(folder, name), constants.O_RDONLY).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
      throw error;
    });
    return file && { size: (await file.stat()).size, body: file.createReadStream() };
  },

  remove: (name) => rm(join(folder, name), { force: true }),

  addressOf: (name) => `${addresses}/${name}`,
});
