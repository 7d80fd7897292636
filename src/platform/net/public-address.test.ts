import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nameServer } from '../../../test/support/name-server.ts';
import { isPublic, vettedAddress } from './public-address.ts';

const octet = fc.integer({ min: 0, max: 255 });
const v4 = fc.tuple(octet, octet, octet, octet);
const text = (octets: readonly number[]) => octets.join('.');
const groups = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]) => [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)] as const;
const group = fc.integer({ min: 0, max: 0xffff });

/** The ranges that §12 of the answered points names, and a few more. */
const refused = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...[
    '192.0.2.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
  ],
];

const within = (range: string) => {
  const [network = '', bits = ''] = range.split('/');
  const base = network.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return fc.integer({ min: 0, max: 2 ** (32 - Number(bits)) - 1 }).map((offset) => {
    const value = base + offset;
    return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256);
  });
};

test('no address of a refused IPv4 range is public', () => {
  for (const range of refused) fc.assert(fc.property(within(range), (octets) => !isPublic(text(octets))));
});

test('ordinary IPv4 addresses are public', () => {
  for (const address of ['1.1.1.1', '8.8.8.8', '93.184.215.14', '172.15.255.255', '172.32.0.0', '100.63.255.255', '223.255.255.255'])
    assert.ok(isPublic(address), address);
});

test('no IPv4 address is public inside an IPv6 form that carries it', () => {
  fc.assert(
    fc.property(v4, group, group, (octets, any, other) => {
      const [high, low] = groups(octets);
      const carriers = [
        `::ffff:${text(octets)}`,
        `::ffff:${high}:${low}`,
        `::${text(octets)}`,
        `::ffff:0:${high}:${low}`,
        `64:ff9b::${high}:${low}`,
        `64:ff9b:1::${high}:${low}`,
        `2002:${high}:${low}::1`,
        `2001:0:${any.toString(16)}:${other.toString(16)}::${high}:${low}`,
        `2606:4700:${any.toString(16)}:${other.toString(16)}:0:5efe:${high}:${low}`,
        `2606:4700:${any.toString(16)}:${other.toString(16)}:200:5efe:${high}:${low}`,
        `::5efe:${high}:${low}`,
        `fe80::5efe:${high}:${low}`,
        // Written out, and with the last 32 bits as an IPv4 address.
        `0:0:0:0:0:ffff:${text(octets)}`,
        `0:0:0:0:0:0:${high}:${low}`,
        `64:ff9b::${text(octets)}`,
        `64:ff9b:1:${any.toString(16)}:${other.toString(16)}:0:${high}:${low}`,
        // NAT64 within its local-use prefix: the address lies around the bits 64 to 71.
        `64:ff9b:1:${high}:${(octets[2]! % 256).toString(16)}:${(octets[3]! * 256).toString(16)}::`,
        // 6to4 with any subnet and host, and the address of the server in a Teredo one.
        `2002:${high}:${low}:${any.toString(16)}:${other.toString(16)}::1`,
        `2001:0:${high}:${low}:${any.toString(16)}:${other.toString(16)}::`,
        `2001:0:${any.toString(16)}:${other.toString(16)}:8000:ffff:${(~Number.parseInt(high, 16) & 0xffff).toString(16)}:${(~Number.parseInt(low, 16) & 0xffff).toString(16)}`,
        // ISATAP behind a global prefix, by a name that is local or global or of a group.
        ...['0', '200', '100', '300'].map((bits) => `2a00:1450:${any.toString(16)}:${other.toString(16)}:${bits}:5efe:${high}:${low}`),
        // IPv4-translated, and the old site- and unique-local ways of carrying it.
        `::ffff:0:${text(octets)}`,
        `fec0::${high}:${low}`,
        `fd00::${high}:${low}`,
        `::ffff:${high}:${low}%lo`,
      ];
      for (const address of carriers) assert.ok(!isPublic(address), address);
    }),
  );
});

test('an IPv6 address outside 2000::/3 is never public', () => {
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (parts) => {
      if (parts[0]! >> 13 !== 1) assert.ok(!isPublic(parts.map((part) => part.toString(16)).join(':')));
    }),
  );
  for (const address of ['::', '::1', '4000::1', '200::1', '100:0:0:1::1', 'fc00::1', 'fd12::1', 'fe80::1', 'fec0::1', 'ff02::1'])
    assert.ok(!isPublic(address), address);
});

test('ranges of 2000::/3 that are not for hosts are not public, the others are', () => {
  for (const address of [
    '2001:db8::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2002::1',
    '3fff::1',
    '2620:4f:8000::1',
    '2606::1%lo',
  ])
    assert.ok(!isPublic(address), address);
  for (const address of ['2606:4700:4700::1111', '2a00:1450:4009:80b::200e', '2001:4860:4860::8888']) assert.ok(isPublic(address), address);
});

test('what is no address is not public', () => {
  fc.assert(fc.property(fc.string(), (given) => !isPublic(given) || /^[\d.]+$|:/.test(given)));
  for (const given of ['', '127.1', '2130706433', '0x7f.0.0.1', '8.8.8.8.', '08.8.8.8', 'localhost']) assert.ok(!isPublic(given), given);
});

test('a host is refused when any of its addresses is not public', async (t) => {
  const hosts: Record<string, string[]> = {
    'public.example': ['1.1.1.1', '8.8.8.8', '2606:4700:4700::1111'],
    'v6.example': ['2606:4700:4700::1111'],
    'mixed.example': ['1.1.1.1', '10.0.0.1'],
    'mixed6.example': ['1.1.1.1', '::1'],
    'home.example': ['127.0.0.1'],
  };
  const names = await nameServer(t, (name) => hosts[name] ?? []);
  const ask = (host: string, allow: string[] = [], secure = true) => vettedAddress(host, secure, { names, allow, ownHosts: [] });
  assert.ok(['1.1.1.1', '8.8.8.8'].includes(await ask('public.example')), 'IPv4 first');
  assert.equal(await ask('v6.example'), '2606:4700:4700::1111');
  for (const host of ['mixed.example', 'mixed6.example', 'home.example', '127.0.0.1', '[::1]', '[::ffff:7f00:1]', '10.1.2.3'])
    await assert.rejects(ask(host), { code: 'blocked_address' }, host);
  await assert.rejects(ask('nobody.example'), { code: 'dns' });
  assert.equal(await ask('home.example', ['127.0.0.0/8']), '127.0.0.1', 'unless the operator allows it');
  assert.equal(await ask('home.example', ['127.0.0.0/8'], false), '127.0.0.1', 'and then without TLS, too');
  await assert.rejects(
    ask('public.example', ['127.0.0.0/8'], false),
    { code: 'plain_http', message: 'Public addresses are called by https alone.' },
    'which nobody else may be called',
  );
  await assert.rejects(ask('mixed.example', ['127.0.0.0/8'], false), { code: 'blocked_address' });
});

test('our own addresses are refused, whoever has them, unless the operator allows them', async (t) => {
  const hosts: Record<string, string[]> = {
    'api.example': ['93.184.215.14', '2606:4700:4700::1111'],
    'guise.example': ['1.1.1.1', '93.184.215.14'],
    'guise6.example': ['2606:4700:4700:0::1111'],
    'public.example': ['1.1.1.1'],
  };
  const names = await nameServer(t, (name) => hosts[name] ?? []);
  const ask = (host: string, ownHosts: string[], allow: string[] = []) => vettedAddress(host, true, { names, allow, ownHosts });
  for (const host of ['api.example', 'guise.example', 'guise6.example', '93.184.215.14', '[2606:4700:4700::1111]'])
    await assert.rejects(ask(host, ['www.example', 'api.example']), { code: 'blocked_address' }, host);
  await assert.rejects(ask('public.example', ['1.1.1.1']), { code: 'blocked_address' });
  await assert.rejects(ask('guise6.example', ['[2606:4700:4700::1111]']), { code: 'blocked_address' });
  assert.equal(await ask('public.example', ['api.example', 'nobody.example', 'localhost']), '1.1.1.1');
  assert.equal(await ask('api.example', ['api.example'], ['93.184.215.0/24', '2606:4700::/32']), '93.184.215.14');
});
