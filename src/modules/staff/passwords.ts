import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

// OWASP's least for argon2id: 19 MiB, two passes, one lane.
const cost: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const tagLength = 32;

/** The password as it is kept: argon2id in the PHC string form, which names its own cost. */
export async function hashed(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await derived(password, nonce, cost);
  return `$argon2id$v=19$${costOf(cost)}$${unpadded(nonce)}$${unpadded(tag)}`;
}

/** Whether this is the password that is kept. Where none is, the same work is done, so that the time does not tell. */
export async function isPassword(password: string, kept: string | null): Promise<boolean> {
  const [, memory, passes, parallelism, nonce, tag] = form.exec(kept ?? '') ?? [];
  if (!nonce || !tag) {
    await derived(password, randomBytes(16), cost);
    return false;
  }
  const asKept = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const wanted = Buffer.from(tag, 'base64');
  return timingSafeEqual(await derived(password, Buffer.from(nonce, 'base64'), asKept, wanted.length), wanted);
}

/** Whether it is kept at another cost than passwords are now. */
export const isOutdated = (kept: string): boolean => !kept.startsWith(`$argon2id$v=19$${costOf(cost)}$`);

const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

const derived = (password: string, nonce: Buffer, cost: Cost, length = tagLength): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    argon2('argon2id', { message: password.normalize('NFKC'), nonce, tagLength: length, ...cost }, (error, tag) =>
      error ? reject(error) : resolve(tag),
    ),
  );

const costOf = ({ memory, passes, parallelism }: Cost): string => `m=${memory},t=${passes},p=${parallelism}`;

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
