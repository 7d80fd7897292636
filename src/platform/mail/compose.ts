import type { SendMailOptions } from 'nodemailer';
import { toMillis } from '../dates.ts';
import type { Mail, Person } from './postbox.ts';
import { oneLine } from './postbox.ts';

/** The mail as it is sent, the same each time. Names and subject stay in their line; what is sent to is the address alone. */
export const composed = ({ id, to, subject, text, at }: Mail, from: Person): SendMailOptions => ({
  envelope: { from: from.address, to: [to.address] },
  from: written(from),
  to: written(to),
  subject: oneLine(subject),
  text,
  date: new Date(toMillis(at)),
  messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
  // Nobody's absence note needs to answer it (RFC 3834).
  headers: { 'Auto-Submitted': 'auto-generated' },
  xMailer: false,
  disableFileAccess: true,
  disableUrlAccess: true,
});

const written = ({ name, address }: Person) => ({ name: oneLine(name), address });
