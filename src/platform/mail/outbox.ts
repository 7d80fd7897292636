import { mkdir } from 'node:fs/promises';
import { createTransport } from 'nodemailer';
import type { Instant } from '../dates.ts';
import { folderStore } from '../files/folder.ts';
import { composed } from './compose.ts';
import type { Outbox, Postbox } from './postbox.ts';

/** Keeps mail as `.eml` files that sort by their time. The same mail again is the same file. */
export function folderPostbox({ folder, from }: Outbox): Postbox {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const files = folderStore({ kind: 'folder', folder, addresses: '' });
  return {
    async send(mail) {
      const { message } = await composer.sendMail(composed(mail, from));
      // Whoever else works on this machine has no business in it.
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await files.put(`${stamp(mail.at)}-${mail.id}.eml`, message as Buffer, 'message/rfc822');
    },
    close: async () => undefined,
  };
}

const stamp = (at: Instant): string => `${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
