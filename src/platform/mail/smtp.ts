import { createTransport } from 'nodemailer';
import { composed } from './compose.ts';
import type { MailServer, Postbox } from './postbox.ts';
import { MailFault } from './postbox.ts';

/** Hands mail to a mail server, for so long at most. Certificates are always verified; a password leaves this machine through TLS alone. */
export function serverPostbox({ host, port, secure, auth, from }: MailServer, wholeTimeMs = 60_000): Postbox {
  const transport = createTransport({
    host,
    port,
    secure,
    ...(auth && { auth: { user: auth.user, pass: auth.password } }),
    requireTLS: !secure && auth !== null && !isThisMachine(host),
    pool: true,
    maxConnections: 2,
    idleTimeout: 5_000,
    // The queue alone sends again.
    maxRequeues: 0,
    dnsTimeout: 5_000,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
  });
  return {
    async send(mail) {
      try {
        await transport.sendMail({ ...composed(mail, from), signal: AbortSignal.timeout(wholeTimeMs) });
      } catch (error) {
        throw asFault(error as Complaint);
      }
    },
    async close() {
      transport.close();
    },
  };
}

const isThisMachine = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host);

interface Complaint extends Error {
  readonly code?: string;
  /** To which command the server said so. */
  readonly command?: string;
  readonly responseCode?: number;
  readonly response?: string;
}

/** What the server says of somebody's address may repeat it: the status is kept, and no text. */
function asFault({ code, command, responseCode, response = '', message }: Complaint): MailFault {
  if (responseCode === undefined) return new MailFault(code === 'EENVELOPE' ? 'The address is none.' : oneSentence(message), false);
  const [status] = /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3}\b)?/.exec(response) ?? [responseCode];
  return new MailFault(`The mail server answered ${status} to ${command}.`, isRefusedForGood(command, responseCode));
}

const oneSentence = (message: string): string => `The mail server was not reached: ${message}`;

/** Of the recipient or of the mail itself; a sender or a sign-in that is refused is the operator's to mend, and the mail waits for that. */
const isRefusedForGood = (command: string | undefined, status: number): boolean =>
  (command === 'RCPT TO' || command === 'DATA') && status >= 500 && status !== signInWanted;

const signInWanted = 530;
