import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FileStore, Folder } from './store.ts';

/** Files in a folder of this machine, or one that several machines share. */
export const folderStore = ({ folder, addresses }: Folder): FileStore => ({
  async put(name, bytes) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    // Written aside and moved: nobody ever reads half a file, whenever this process ends.
    const aside = `${path}.${randomBytes(6).toString('hex')}${unfinished}`;
    try {
      const file = await open(aside, 'wx');
      await file
        .writeFile(bytes)
        .then(() => file.sync())
        .finally(() => file.close());
      await rename(aside, path);
      await keepNames(dirname(path));
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

  async remove(name) {
    const path = join(folder, name);
    for (const aside of await leftAside(path)) await rm(aside, { force: true });
    await rm(path, { force: true });
  },

  addressOf: (name) => `${addresses}/${name}`,
});

const unfinished = '.new';

/** A name survives a loss of power only when its folder is written too. Windows opens no folders, and writes them by itself. */
async function keepNames(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const opened = await open(folder);
  await opened.sync().finally(() => opened.close());
}

/** What a process left that ended in the middle of writing this file. */
async function leftAside(path: string): Promise<string[]> {
  const names = await readdir(dirname(path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const own = names.filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith(unfinished));
  return own.map((name) => join(dirname(path), name));
}
