import type { Socket } from 'node:dgram';
import { createSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { isIP } from 'node:net';

const typeA = 1;
const typeAAAA = 28;

/** A real name server on loopback, and a resolver that asks it alone. `answers` says which addresses a name has, the n-th time it is asked; null: it keeps silent. */
export async function nameServer(t: { after(undo: () => void): void }, answers: (name: string, asked: number) => readonly string[] | null) {
  const counts = new Map<string, number>();
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const { name, type, end } = question(query);
    const key = `${name} ${type}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const family = type === typeA ? 4 : type === typeAAAA ? 6 : 0;
    const known = answers(name, counts.get(key)!);
    if (known === null) return;
    const found = known.filter((one) => isIP(one) === family);
    server.send(reply(query.subarray(0, end), type, found), port, address);
  });
  const { port } = await bound(server);
  t.after(() => server.close());
  const resolver = new dns.Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  return resolver;
}

const bound = (server: Socket): Promise<AddressInfo> => new Promise((done) => server.bind(0, '127.0.0.1', () => done(server.address())));

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function reply(question: Buffer, type: number, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = isIP(address) === 4 ? Buffer.from(address.split('.').map(Number)) : v6(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0); // The name of the question.
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, ...records]);
}

function v6(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::');
  const groups = (part: string) => part.split(':').filter(Boolean);
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)];
  const bytes = Buffer.alloc(16);
  for (const [i, group] of all.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), i * 2);
  return bytes;
}
