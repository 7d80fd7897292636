import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { authority } from '../../../test/support/certificates.ts';
import { nameServer } from '../../../test/support/name-server.ts';
import { canary, pictureServer, silentServer } from '../../../test/support/picture-server.ts';
import { outsideClient } from './fetch.ts';

const allow = ['127.0.0.1/32'];
const ownHosts: readonly string[] = [];
const limits = { timeoutMs: 5_000, mostBytes: 1_000 };

test('an answer is read whole, and redirects are answers', async (t) => {
  const names = await nameServer(t, () => ['127.0.0.1']);
  const server = await pictureServer(t, (request, response) =>
    request.url === '/moved'
      ? response.writeHead(302, { location: '/else' }).end()
      : response.setHeader('x-seen', `${request.headers.host} ${request.headers['accept-encoding']}`).end('whole'),
  );
  const client = outsideClient({ names, allow, ownHosts });
  t.after(() => client.close());
  const { status, body, cut, headers } = await client.send({ url: `http://pictures.example:${server.port}/a?b=c`, ...limits });
  assert.deepEqual([status, body.toString(), cut], [200, 'whole', null]);
  assert.equal(headers['x-seen'], `pictures.example:${server.port} undefined`);
  assert.equal((await client.send({ url: server.at('/moved'), ...limits })).status, 302);
  assert.equal(server.asked('/else'), 0);
});

test('a body is read as far as it may be', async (t) => {
  const server = await pictureServer(t, (request, response) => {
    if (request.url === '/large') return response.end(Buffer.alloc(5_000));
    if (request.url === '/exact') return response.end(Buffer.alloc(1_000));
    if (request.url === '/broken') return response.writeHead(200, { 'content-length': 50 }).write('some', () => response.destroy());
    response.write('drip');
    const dripping = setInterval(() => response.write('drip'), 20);
    return response.on('close', () => clearInterval(dripping));
  });
  const client = outsideClient({ names: await nameServer(t, () => []), allow, ownHosts });
  t.after(() => client.close());
  const large = await client.send({ url: server.at('/large'), ...limits });
  assert.deepEqual([large.body.length, large.cut], [1_000, 'size']);
  const exact = await client.send({ url: server.at('/exact'), ...limits });
  assert.deepEqual([exact.body.length, exact.cut], [1_000, null]);
  assert.equal((await client.send({ url: server.at('/broken'), ...limits })).cut, 'connection');
  const dripping = await client.send({ url: server.at('/drip'), timeoutMs: 300, mostBytes: 1_000_000 });
  assert.equal(dripping.cut, 'timeout', 'the whole has a limit, not the pauses');
});

test('a server that does not answer, is not there or has no certificate is told apart', async (t) => {
  const silent = await pictureServer(t, () => undefined);
  const client = outsideClient({ names: await nameServer(t, () => []), allow, ownHosts });
  t.after(() => client.close());
  const fails = (url: string, code: string) => assert.rejects(client.send({ url, ...limits, timeoutMs: 300 }), { name: 'CallFault', code });
  await fails(silent.at('/'), 'timeout');
  await fails('http://127.0.0.1:1/', 'connect');
  await fails(`https://127.0.0.1:${silent.port}/`, 'tls');
  await fails('https://nobody.example/', 'dns');
});

test('the time bounds names and connecting too', async (t) => {
  const silent = await silentServer(t);
  const patient = await pictureServer(t, () => undefined);
  const names = await nameServer(t, (name) => (name === 'unanswered.example' ? null : ['127.0.0.1']));
  const clients = Array.from({ length: 3 }, () => outsideClient({ names, allow, ownHosts }));
  t.after(() => Promise.all(clients.map((client) => client.close())));
  const ended: string[] = [];
  const times = async (client: (typeof clients)[number], url: string, timeoutMs: number) => {
    await assert.rejects(client.send({ url, ...limits, timeoutMs }), { name: 'CallFault', code: 'timeout' }, url);
    ended.push(url);
  };
  const [unresolved, unconnected, last] = ['https://unanswered.example/', `https://silent.example:${silent.port}/`, patient.at('/')];
  await Promise.all([times(clients[0]!, unresolved, 200), times(clients[1]!, unconnected, 400), times(clients[2]!, last, 3_000)]);
  assert.deepEqual(ended, [unresolved, unconnected, last]);
  assert.deepEqual([silent.connections(), silent.open()], [1, 0], 'and nothing is left of it');
});

test('a certificate is that of the name, valid, and by an authority that is trusted', async (t) => {
  const [trusted, other] = [authority(), authority()];
  const before = getCACertificates();
  setDefaultCACertificates([...before, trusted.certificate]);
  t.after(() => setDefaultCACertificates(before));
  const names = await nameServer(t, () => ['127.0.0.1']);
  const client = outsideClient({ names, allow, ownHosts });
  t.after(() => client.close());
  const asks = async (certificate: { key: string; cert: string }, host: string) => {
    const server = createServer(certificate, (_request, response) => response.end('seen'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return (await client.send({ url: `https://${host}:${(server.address() as AddressInfo).port}/`, ...limits })).body.toString();
  };
  assert.equal(await asks(trusted.vouchFor('pictures.example'), 'pictures.example'), 'seen');
  for (const [what, certificate, host] of [
    ['of another name', trusted.vouchFor('pictures.example'), 'other.example'],
    ['of a name, for an address', trusted.vouchFor('pictures.example'), '127.0.0.1'],
    ['expired', trusted.vouchFor('pictures.example', { expired: true }), 'pictures.example'],
    ['by nobody known', other.vouchFor('pictures.example'), 'pictures.example'],
  ] as const)
    await assert.rejects(asks(certificate, host), { name: 'CallFault', code: 'tls' }, what);
});

test('an address that is not public is never connected to, however it is given', async (t) => {
  const { port, connections } = await canary(t);
  const names = await nameServer(t, (name, asked) => {
    if (name === 'mixed.example') return ['127.0.0.1', '203.0.113.9', '93.184.215.14'];
    // First public, then not: what was judged must be what is called.
    if (name === 'rebinding.example') return [asked > 1 ? '127.0.0.1' : '192.0.2.1'];
    return ['127.0.0.1'];
  });
  const client = outsideClient({ names, allow: [], ownHosts });
  t.after(() => client.close());
  for (const host of [
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    'home.example',
    'mixed.example',
    'rebinding.example',
    'rebinding.example',
  ])
    for (const scheme of ['https', 'http'])
      await assert.rejects(
        client.send({ url: `${scheme}://${host}:${port}/a.jpg`, ...limits }),
        { name: 'CallFault', code: 'blocked_address' },
        host,
      );
  assert.equal(connections(), 0);
});

test('the address that was judged is the one that is called', async (t) => {
  const { port, connections } = await canary(t);
  const server = await pictureServer(t, (_request, response) => response.end('right'));
  // Each further question would lead elsewhere.
  const names = await nameServer(t, (_name, asked) => (asked === 1 ? ['127.0.0.1'] : ['127.0.0.2']));
  const client = outsideClient({ names, allow, ownHosts }, { connections: 1 });
  t.after(() => client.close());
  for (let i = 0; i < 3; i++)
    assert.equal((await client.send({ url: `http://once.example:${server.port}/`, ...limits })).body.toString(), 'right');
  await assert.rejects(client.send({ url: `http://once.example:${port}/`, ...limits }), { code: 'blocked_address' });
  assert.equal(connections(), 0);
});
