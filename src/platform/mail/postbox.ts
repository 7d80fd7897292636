import type { Instant } from '../dates.ts';

/** Somebody with an e-mail address. */
export interface Person {
  readonly name: string;
  readonly address: string;
}

/** A mail to one person, in plain text. */
export interface Mail {
  /** Its own: a mail that is sent twice has the same `Message-ID` twice. */
  readonly id: string;
  readonly to: Person;
  readonly subject: string;
  readonly text: string;
  /** When it was written. */
  readonly at: Instant;
}

/** Takes mail in. */
export interface Postbox {
  /** Resolves once the mail is taken for good; rejects with a `MailFault` when the mail server does not take it. */
  send(mail: Mail): Promise<void>;
  close(): Promise<void>;
}

/** Where mail goes, and from whom it is. */
export type PostboxPlace = MailServer | Outbox;

export interface MailServer {
  readonly kind: 'server';
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte on; else STARTTLS. */
  readonly secure: boolean;
  readonly auth: { readonly user: string; readonly password: string } | null;
  readonly from: Person;
}

/** A folder of `.eml` files. */
export interface Outbox {
  readonly kind: 'outbox';
  readonly folder: string;
  readonly from: Person;
}

/** Why a mail was not taken. It is logged, so it names nobody. */
export class MailFault extends Error {
  /** Whether it would be refused again, however often it is sent. */
  readonly isFinal: boolean;
  constructor(message: string, isFinal: boolean) {
    super(message);
    this.name = 'MailFault';
    this.isFinal = isFinal;
  }
}

/** A text of others as it may stand within a line. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
