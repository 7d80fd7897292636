import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runningEmbedded } from '#platform/db/embedded.ts';
import { takes } from '../support/behaviours.ts';
import { authority } from '../support/certificates.ts';
import { formIn } from '../support/dms.ts';
import { receiver } from '../support/receivers.ts';
import { until } from '../support/until.ts';

test('the first start prints keys and a request that work; the next one continues on the same data, silent about keys', async (t) => {
  const product = await prepared(t);
  const first = await product.start();
  const [, header = '', address = ''] = /curl -H '(Authorization: [^']+)' '([^']+)'/.exec(first.printed()) ?? [];
  const ask = () => fetch(address, { headers: { authorization: header.slice('Authorization: '.length) } });
  const before = (await (await ask()).json()) as { data: unknown[] };
  assert.equal(before.data.length, 3);
  const reference = /Reference +(\S+)/.exec(first.printed())?.[1] ?? '';
  assert.match(await (await fetch(reference)).text(), /<title>Reference/);
  await first.stop('SIGTERM');

  const second = await product.start();
  assert.doesNotMatch(second.printed(), /svc_/);
  assert.ok(second.printed().includes(reference));
  assert.deepEqual(((await (await ask()).json()) as { data: unknown[] }).data, before.data);
});

test('the first start prints a sign-in that opens the web application at the address it prints', async (t) => {
  const product = await prepared(t);
  const run = await product.start();
  const [, dms = ''] = /DMS +(\S+)/.exec(run.printed()) ?? [];
  const [, dealerCode = '', email = '', password = ''] = /Sign-in +dealer code (\S+), (\S+), password (\S+)/.exec(run.printed()) ?? [];
  const page = await fetch(`${dms}/sign-in`);
  const form = formIn(await page.text(), '/sign-in');
  for (const [name, value] of Object.entries({ dealer_code: dealerCode, email, password })) form.set(name, value);
  const cookie = page.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const signedIn = await fetch(`${dms}/sign-in`, { method: 'POST', body: form, headers: { cookie }, redirect: 'manual' });
  assert.deepEqual([signedIn.status, signedIn.headers.get('location')], [303, '/']);
  const session = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  assert.match(await (await fetch(dms, { headers: { cookie: session } })).text(), /Forecourt Demo Motors/);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends everything within 10 seconds, the database too`, async (t) => {
    const product = await prepared(t);
    const run = await product.start();
    const asked = Date.now();
    assert.equal(await run.stop(signal), 0);
    assert.ok(Date.now() - asked < 10_000);
    assert.equal(await runningEmbedded(product.dataDir), null);
    await assert.rejects(fetch(product.url('/healthz')));
  });
}

test('a run that was killed takes its processes with it, and the next one starts on its data', async (t) => {
  const product = await prepared(t);
  const run = await product.start();
  await run.stop('SIGKILL');
  await until(async () => !(await answers(product.url('/healthz'))));
  await product.start();
  assert.equal((await fetch(product.url('/readyz'))).status, 200);
});

test('a process that dies is started again, and the metrics are those of all processes', async (t) => {
  const product = await prepared(t);
  const run = await product.start();
  const listening = /"pid":(\d+)[^\n]*listening/;
  await until(async () => listening.test(run.logged()));
  process.kill(Number(listening.exec(run.logged())?.[1]), 'SIGKILL');
  await until(async () => run.logged().includes('is started again') && (await answers(product.url('/readyz'))));

  await fetch(product.url('/v1/me'));
  const counted = 'forecourt_request_duration_seconds_count{operation="me.get",status="401"} 1\n';
  await until(async () => (await (await fetch(product.metricsUrl)).text()).includes(counted));
});

test('what happens is delivered by a process of its own, soon after and though the worker is killed; the metrics tell of it', async (t) => {
  const product = await prepared(t);
  const trusted = authority();
  const file = join(product.folder, 'authority.pem');
  writeFileSync(file, trusted.certificate);
  const hooks = await receiver(t, trusted.vouchFor('127.0.0.1'), () => takes);
  const run = await product.start({ WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: file });
  const [, authorization = ''] = /curl -H 'Authorization: ([^']+)'/.exec(run.printed()) ?? [];
  const post = async (path: string, body: object) => {
    const answer = await fetch(product.url(path), {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 201);
  };
  await post('/v1/webhook-endpoints', { url: hooks.at('/in'), events: ['vehicle.created'] });
  const worker = /"pid":(\d+),"process":"worker"/;
  await until(async () => worker.test(run.logged()));
  process.kill(Number(worker.exec(run.logged())![1]), 'SIGKILL');
  await post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta' });
  await hooks.received(1);
  await until(async () => {
    const metrics = await (await fetch(product.metricsUrl)).text();
    return (
      metrics.includes('forecourt_delivery_attempt_duration_seconds_count{outcome="success"} 1\n') &&
      metrics.includes('forecourt_oldest_due_delivery_seconds 0\n') &&
      metrics.includes('forecourt_deliveries_due 0\n') &&
      metrics.includes('forecourt_delivery_attempts_in_flight 0\n')
    );
  });
});

test('a port in use is refused in one line, and nothing stays behind', async (t) => {
  const product = await prepared(t);
  const other = createServer().listen(product.port, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  assert.deepEqual(await product.fails(), [
    1,
    `Port ${product.port} of 127.0.0.1 is in use by another program: set API_PORT to a free one.\n`,
  ]);
  const refusal = `Port ${product.port} of 127.0.0.1 is in use by another program: set DMS_PORT to a free one.\n`;
  assert.deepEqual(await product.fails({ DMS_PORT: `${product.port}`, API_PORT: `${product.port + 1}` }, ['--role', 'dms']), [1, refusal]);
  assert.equal(await runningEmbedded(product.dataDir), null);
});

test('a wrong value is refused in one line', async (t) => {
  const product = await prepared(t);
  assert.deepEqual(await product.fails({ API_PORT: 'abc' }), [1, 'API_PORT must be a port between 1 and 65535, not "abc".\n']);
  assert.deepEqual(await product.fails({ DATABASE_URL: `postgres://x:y@127.0.0.1:${product.port}/z` }), [
    1,
    `DATABASE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:${product.port}\n`,
  ]);
});

test('a role that does not exist is refused in one line that names those that do', async (t) => {
  const product = await prepared(t);
  const refusal = '--role takes api, dms, worker, several separated by commas, not "pump".\n';
  assert.deepEqual(await product.fails({}, ['--role', 'api,pump']), [2, refusal]);
});

test('what it takes is told when it is asked, and with a word it does not know', async (t) => {
  const product = await prepared(t);
  const [code, said] = await product.says(['--help']);
  assert.equal(code, 0);
  assert.match(said, /^npm start \[-- --role api,dms,worker\]\n/);
  const refusal = "Unknown option '--roles'. npm start takes: --role, --help.\n";
  assert.deepEqual(await product.fails({}, ['--roles', 'api']), [2, refusal]);
});

/** Ports and a data folder of its own, in which the product can be started more than once. */
async function prepared(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-'));
  const dataDir = join(folder, 'data');
  const [port, dmsPort, metricsPort] = [await freePort(), await freePort(), await freePort()];
  const { DATABASE_URL: _, ...inherited } = process.env;
  const env = {
    ...inherited,
    DATA_DIR: dataDir,
    API_PORT: `${port}`,
    DMS_PORT: `${dmsPort}`,
    METRICS_PORT: `${metricsPort}`,
    LOG_LEVEL: 'info',
  };
  const runs: Run[] = [];
  t.after(async () => {
    for (const run of runs) await run.stop('SIGTERM');
    rmSync(folder, { recursive: true });
  });

  const spawnIt = (more: Record<string, string> = {}, words: string[] = []) => {
    const run = watched(spawn(process.execPath, ['src/bin/start.ts', ...words], { env: { ...env, ...more } }));
    runs.push(run);
    return run;
  };
  return {
    dataDir,
    port,
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    folder,
    async start(more: Record<string, string> = {}): Promise<Run> {
      const run = spawnIt(more);
      await until(async () => run.over() || /Try it:.*\n.*\n?.*curl|Try it: {4}curl/.test(run.printed()));
      assert.ok(!run.over(), run.logged());
      return run;
    },
    /** The exit code, and what it printed. */
    async says(words: string[]): Promise<[number | null, string]> {
      const run = spawnIt({}, words);
      return [await run.ended, run.printed()];
    },
    /** The exit code, and what it complained of. */
    async fails(more: Record<string, string> = {}, words: string[] = []): Promise<[number | null, string]> {
      const run = spawnIt(more, words);
      return [await run.ended, run.logged()];
    },
  };
}

type Run = ReturnType<typeof watched>;

function watched(child: ChildProcess) {
  let [printed, logged] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    logged += chunk;
  });
  const over = () => child.exitCode !== null || child.signalCode !== null;
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return {
    printed: () => printed,
    logged: () => logged,
    over,
    ended,
    stop(signal: NodeJS.Signals): Promise<number | null> {
      if (!over()) child.kill(signal);
      return ended;
    },
  };
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    (response) => response.ok,
    () => false,
  );

/** A port nothing listens on, out of the range from which the system hands out ports to whoever connects meanwhile. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (free) return port;
  }
}
