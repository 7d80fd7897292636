import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Email } from 'postal-mime';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { MailServer } from '#platform/mail/postbox.ts';

/** A mail as a mail server took it, and as a mail program reads it. */
export interface Received extends Email {
  /** Whom it was handed over for. */
  readonly recipients: readonly string[];
  readonly secure: boolean;
  readonly source: Buffer;
}

/** The steps at which a mail server may say no. */
type Step = 'AUTH' | 'MAIL FROM' | 'RCPT TO' | 'DATA';

export interface ServerOptions {
  /** With this key and certificate it offers STARTTLS; else nothing but plain text. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

const user = 'forecourt@mail.example';
const password = 'correct: horse/battery';

/** A real mail server on this machine that wants a sign-in and keeps what it takes. */
export async function mailServer(t: { after(undo: () => Promise<void>): void }, { tls }: ServerOptions = {}) {
  const received: Received[] = [];
  const signIns: string[] = [];
  const refusals: { step: Step; answer: string }[] = [];
  let taken = async (_mail: Received): Promise<void> => undefined;
  /** The next refusal, if it is one of this step. */
  const refusal = (step: Step): Error | null => {
    if (refusals[0]?.step !== step) return null;
    const [, status, text] = /^(\d{3}) (.*)$/.exec(refusals.shift()!.answer) ?? [];
    return Object.assign(new Error(text), { responseCode: Number(status) });
  };
  const server = new SMTPServer({
    ...(tls ?? { disabledCommands: ['STARTTLS'] }),
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth(auth, _session, done) {
      signIns.push(auth.username ?? '');
      const isKnown = auth.username === user && auth.password === password;
      return done(refusal('AUTH') ?? (isKnown ? null : new Error('Unknown')), { user });
    },
    onMailFrom: (_address, _session, done) => done(refusal('MAIL FROM')),
    onRcptTo: (_address, _session, done) => done(refusal('RCPT TO')),
    async onData(stream, session, done) {
      const source = await buffer(stream);
      const refused = refusal('DATA');
      if (refused) return done(refused);
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      const mail = { ...(await PostalMime.parse(source)), recipients, secure: session.secure, source };
      received.push(mail);
      await taken(mail);
      return done();
    },
  });
  // Whoever connects may be killed.
  server.on('error', () => undefined);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => new Promise((done) => server.close(() => done())));
  const { port } = server.server.address() as AddressInfo;
  return {
    received: received as readonly Received[],
    /** Who signed in, or tried to. */
    signIns: signIns as readonly string[],
    url: `smtp://${encodeURIComponent(user)}:${encodeURIComponent(password)}@localhost:${port}`,
    place: {
      ...{ kind: 'server', host: 'localhost', port, secure: false, auth: { user, password } },
      from: { name: 'Forecourt', address: 'forecourt@dms.example' },
    } as const satisfies MailServer,
    /** Says no at the next step of this kind, in these words: `550 Unknown.` */
    refuse: (step: Step, answer: string) => void refusals.push({ step, answer }),
    /** What to do when it has taken a mail and not yet said so. */
    whenTaken: (then: (mail: Received) => Promise<void>) => {
      taken = then;
    },
  };
}
