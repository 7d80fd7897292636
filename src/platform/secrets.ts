import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Instant } from './dates.ts';
import { toMillis } from './dates.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random base62 text; bytes that would favour some letters are thrown away. */
export function randomText(length: number): string {
  let out = '';
  while (out.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && out.length < length) out += alphabet.charAt(byte % 62);
    }
  }
  return out;
}

/** The CRC-32 of a text as six base62 characters: a mistyped key is known as such without a look-up. */
export function checksum(of: string): string {
  let value = crc32(of);
  let out = '';
  for (let i = 0; i < 6; i++) {
    out = alphabet.charAt(value % 62) + out;
    value = Math.floor(value / 62);
  }
  return out;
}

export const sha256 = (value: string | Buffer): Buffer => createHash('sha256').update(value).digest();

/** A UUIDv7 that carries the given moment, so that ids sort by it. */
export function uuidv7(at: Instant): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(toMillis(at), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  return spelled(bytes);
}

/** A UUIDv8 that follows from a text: the same for the same. */
export function uuidOf(text: string): string {
  const bytes = sha256(text).subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  return spelled(bytes);
}

function spelled(bytes: Buffer): string {
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The moment a UUIDv7 carries, in milliseconds; of any other UUID it is anywhere within nine thousand years. */
export const uuidv7Millis = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

/** Signs and encrypts with the operator's master keys: the newest signs, every one of them verifies. */
export interface Keyring {
  /** HMAC-SHA256 of `data`, for one purpose. */
  sign(purpose: string, data: string): Buffer;
  verifies(purpose: string, data: string, signature: Buffer): boolean;
  /** AES-256-GCM; `boundTo` names the row it belongs to and must be given again to read it. */
  seal(plain: string, boundTo: string): Buffer;
  unseal(sealed: Buffer, boundTo: string): string;
}

export function keyring(masterKeys: readonly Buffer[]): Keyring {
  const derived = (purpose: string) => masterKeys.map((key) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32)));
  const cache = new Map<string, Buffer[]>();
  const keysFor = (purpose: string): Buffer[] => {
    let keys = cache.get(purpose);
    if (!keys) {
      keys = derived(purpose);
      cache.set(purpose, keys);
    }
    return keys;
  };
  const mac = (key: Buffer, data: string) => createHmac('sha256', key).update(data).digest();

  return {
    sign: (purpose, data) => mac(keysFor(purpose)[0]!, data),
    verifies: (purpose, data, signature) =>
      signature.length === 32 && keysFor(purpose).some((key) => timingSafeEqual(mac(key, data), signature)),
    seal(plain, boundTo) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keysFor('seal')[0]!, nonce).setAAD(Buffer.from(boundTo));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    unseal(sealed, boundTo) {
      for (const key of keysFor('seal')) {
        try {
          const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(boundTo));
          decipher.setAuthTag(sealed.subarray(12, 28));
          return decipher.update(sealed.subarray(28), undefined, 'utf8') + decipher.final('utf8');
        } catch {
          // Sealed with an older master key: try the next.
        }
      }
      throw new Error('A sealed value cannot be read with any of the master keys.');
    },
  };
}
