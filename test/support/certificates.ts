import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** Whoever trusts `certificate` trusts the servers it vouches for. */
export interface Authority {
  readonly certificate: string;
  /** The key and the certificate of a server of this name or IPv4 address, valid for a day, or until yesterday. */
  vouchFor(name: string, options?: { expired: boolean }): { key: string; cert: string };
}

/** An authority made for one test: no key is kept anywhere. */
export function authority(): Authority {
  const keys = newKeys();
  const issuer = nameOf('An authority of a test');
  const isAuthority = sequence(Buffer.from('0603551d13', 'hex'), yes, der(0x04, sequence(yes)));
  const issue = (parts: Omit<Parts, 'issuer'>): string => certificateOf({ ...parts, issuer }, keys.privateKey);
  return {
    certificate: issue({ subject: issuer, publicKey: keys.publicKey, extension: isAuthority, days: [-2, 1] }),
    vouchFor(name, { expired } = { expired: false }) {
      const { publicKey, privateKey } = newKeys();
      const names = sequence(Buffer.from('0603551d11', 'hex'), der(0x04, sequence(alternativeName(name))));
      return {
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
        cert: issue({ subject: nameOf(name), publicKey, extension: names, days: expired ? [-2, -1] : [-1, 1] }),
      };
    },
  };
}

interface Parts {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly extension: Buffer;
  /** From when until when, from now. */
  readonly days: readonly [number, number];
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** X.509 (RFC 5280), signed by ECDSA with SHA-256. */
function certificateOf({ issuer, subject, publicKey, extension, days }: Parts, signer: KeyObject): string {
  const algorithm = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const serial = der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)]));
  const validity = sequence(...days.map(dayFromNow));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const said = sequence(version, serial, algorithm, issuer, validity, subject, key, der(0xa3, sequence(extension)));
  const signature = der(0x03, Buffer.from([0]), sign('sha256', said, signer));
  return `-----BEGIN CERTIFICATE-----\n${sequence(said, algorithm, signature).toString('base64')}\n-----END CERTIFICATE-----\n`;
}

const alternativeName = (name: string): Buffer =>
  isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name));

const nameOf = (name: string): Buffer => sequence(der(0x31, sequence(Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(name)))));

function dayFromNow(days: number): Buffer {
  const digits = new Date(Date.now() + days * 86_400_000).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

const yes = Buffer.from('0101ff', 'hex');

const sequence = (...content: Buffer[]): Buffer => der(0x30, ...content);

function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}
