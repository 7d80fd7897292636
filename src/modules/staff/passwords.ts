import { argon2, randomBytes } from 'node:crypto';

// OWASP's least for argon2id: 19 MiB, two passes, one lane.
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;

/** The password as it is kept: argon2id in the PHC string form, which names its own cost. */
export async function hashed(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await derived(password.normalize('NFKC'), nonce);
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const derived = (message: string, nonce: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    argon2('argon2id', { message, nonce, tagLength, ...cost }, (error, tag) => (error ? reject(error) : resolve(tag))),
  );

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
