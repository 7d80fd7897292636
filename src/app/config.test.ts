import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { ConfigError, readConfig } from './config.ts';
import { loadMasterKeys } from './master-key.ts';

test('without a variable set, everything has its default', () => {
  assert.deepEqual(readConfig({}), {
    databaseUrl: null,
    dataDir: resolve('.data'),
    host: '127.0.0.1',
    apiPort: 4000,
    dmsPort: 4001,
    baseUrl: 'http://127.0.0.1:4000',
    dmsUrl: 'http://127.0.0.1:4001',
    masterKeys: [],
    trustedProxies: [],
    mcpOrigins: ['http://127.0.0.1:4000'],
    oauthCallsPerMinute: 60,
    files: { kind: 'folder', folder: resolve('.data/files'), addresses: 'http://127.0.0.1:4000/files' },
    mail: { kind: 'outbox', folder: resolve('.data/outbox'), from: { name: 'Forecourt', address: 'forecourt@localhost' } },
    imageAllowAddresses: [],
    webhookAllowAddresses: [],
    limits: { freeStockCap: 25, sandboxStockCap: 500, sandboxStockShare: 50, themeQuotaStandard: 10, themeQuotaProfessional: 30 },
    lookup: { dvla: null, dvsa: null },
    workers: 1,
    logLevel: 'info',
    metricsPort: null,
  });
});

test('each variable is read as what it means', () => {
  const [newer, older] = [randomBytes(32), randomBytes(32)];
  const config = readConfig({
    DATABASE_URL: 'postgresql://dms@db.example/dms',
    DATA_DIR: '/var/lib/forecourt',
    HOST: '0.0.0.0',
    API_PORT: '8080',
    DMS_URL: 'https://dms.example.com/',
    MASTER_KEY: `${newer.toString('base64')}, ${older.toString('base64')}`,
    TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7,2001:db8::/32',
    MCP_ORIGINS: 'https://assistant.example, http://localhost:8080/',
    OAUTH_CALLS_PER_MINUTE: '600',
    FREE_STOCK_CAP: '0',
    WORKERS: '4',
    LOG_LEVEL: 'debug',
    METRICS_PORT: '9100',
  });
  assert.equal(config.databaseUrl, 'postgresql://dms@db.example/dms');
  assert.equal(config.dataDir, resolve('/var/lib/forecourt'));
  assert.deepEqual([config.baseUrl, config.dmsUrl], ['http://127.0.0.1:8080', 'https://dms.example.com']);
  assert.deepEqual(config.masterKeys, [newer, older]);
  assert.deepEqual(config.trustedProxies, ['10.0.0.0/8', '192.0.2.7/32', '2001:db8::/32']);
  assert.deepEqual(config.mcpOrigins, ['https://assistant.example', 'http://localhost:8080']);
  assert.equal(config.oauthCallsPerMinute, 600);
  assert.equal(config.limits.freeStockCap, 0);
  assert.deepEqual([config.workers, config.logLevel, config.metricsPort], [4, 'debug', 9100]);
});

test('an empty variable counts as not set', () => {
  assert.deepEqual(readConfig({ API_PORT: '', DATABASE_URL: ' ', MASTER_KEY: '' }), readConfig({}));
});

test('the base address loses its last slash, and an IPv6 host gets its brackets', () => {
  assert.equal(readConfig({ BASE_URL: 'https://api.example.com/' }).baseUrl, 'https://api.example.com');
  assert.equal(readConfig({ HOST: '::1' }).baseUrl, 'http://[::1]:4000');
});

for (const [name, value, takes] of [
  ['API_PORT', 'abc', 'a port between 1 and 65535, not "abc"'],
  ['API_PORT', '0', 'a port between 1 and 65535, not "0"'],
  ['API_PORT', '65536', 'a port between 1 and 65535, not "65536"'],
  ['METRICS_PORT', '9e3', 'a port between 1 and 65535, not "9e3"'],
  ['HOST', 'http://x', 'an IP address or a host name, not "http://x"'],
  ['BASE_URL', 'ftp://x', 'an http or https address without a path, such as https://dms.example.com, not "ftp://x"'],
  [
    'MCP_ORIGINS',
    'https://assistant.example/app',
    'a list of origins such as https://assistant.example, separated by commas, not "https://assistant.example/app"',
  ],
  ['TRUSTED_PROXIES', '10.0.0.0/33', 'a list of address ranges such as 10.0.0.0/8, separated by commas, not "10.0.0.0/33"'],
  ['WEBHOOK_ALLOW_ADDRESSES', '10.0.0.0/33', 'a list of address ranges such as 10.0.0.0/8, separated by commas, not "10.0.0.0/33"'],
  ['IMAGE_ALLOW_ADDRESSES', 'localhost', 'a list of address ranges such as 10.0.0.0/8, separated by commas, not "localhost"'],
  ['OAUTH_CALLS_PER_MINUTE', '0', 'a whole number from 1 to 1000000000, not "0"'],
  [
    'BASE_URL',
    'https://x.example/v0',
    'an http or https address without a path, such as https://dms.example.com, not "https://x.example/v0"',
  ],
  ['DMS_URL', 'dms', 'an http or https address without a path, such as https://dms.example.com, not "dms"'],
  [
    'DMS_URL',
    'https://x.example/dms',
    'an http or https address without a path, such as https://dms.example.com, not "https://x.example/dms"',
  ],
  ['FREE_STOCK_CAP', '-1', 'a whole number from 0 to 1000000000, not "-1"'],
  ['THEME_QUOTA_STANDARD', '1.5', 'a whole number from 0 to 1000000000, not "1.5"'],
  ['WORKERS', '0', 'a whole number from 1 to 256, not "0"'],
  ['LOG_LEVEL', 'loud', 'one of trace, debug, info, warn, error, fatal, silent, not "loud"'],
  ['VEHICLE_LOOKUP', 'dvsa', 'one of builtin, dvla, dvla+dvsa, not "dvsa"'],
  ['DVLA_API_URL', 'dvla', 'an http or https address without a query, such as https://api.example.com, not "dvla"'],
  ['DVLA_API_KEY', 'two words', 'a text of printable characters without spaces'],
  [
    'SMTP_URL',
    'smtp://user:secret@mail.example/?pool=true',
    'the address of a mail server, such as smtps://user:password@smtp.example.com or smtp://localhost:1025',
  ],
  ['MAIL_FROM', 'Forecourt', 'an e-mail address, alone or as Name <name@example.com>, not "Forecourt"'],
  ['DATABASE_URL', 'mysql://u:p@h/d', 'the address of a PostgreSQL database, such as postgres://user:password@host:5432/database'],
  ['MASTER_KEY', 'c2hvcnQ=', '32 bytes in base64, or a list of such, newest first, separated by commas'],
] as const) {
  test(`${name}=${value} is refused in one line`, () => {
    assert.throws(() => readConfig({ [name]: value }), new ConfigError(`${name} must be ${takes}.`));
  });
}

const dvsaVariables = { DVSA_API_KEY: 'k2', DVSA_TOKEN_URL: 'https://login.example/t', DVSA_CLIENT_ID: 'c', DVSA_CLIENT_SECRET: 's' };

test('the providers of the look-up are those named, with all they need', () => {
  const dvla = { apiUrl: 'https://driver-vehicle-licensing.api.gov.uk', apiKey: 'k1' };
  assert.deepEqual(readConfig({ VEHICLE_LOOKUP: 'dvla', DVLA_API_KEY: 'k1', ...dvsaVariables }).lookup, { dvla, dvsa: null });
  assert.deepEqual(readConfig({ VEHICLE_LOOKUP: 'dvla+dvsa', DVLA_API_KEY: 'k1', ...dvsaVariables }).lookup, {
    dvla,
    dvsa: {
      apiUrl: 'https://history.mot.api.gov.uk',
      apiKey: 'k2',
      tokenUrl: 'https://login.example/t',
      clientId: 'c',
      clientSecret: 's',
    },
  });
});

for (const missing of ['DVLA_API_KEY', 'DVSA_API_KEY', 'DVSA_TOKEN_URL', 'DVSA_CLIENT_ID', 'DVSA_CLIENT_SECRET']) {
  test(`without ${missing} the look-up that needs it does not start`, () => {
    const env = { VEHICLE_LOOKUP: 'dvla+dvsa', DVLA_API_KEY: 'k1', ...dvsaVariables, [missing]: '' };
    assert.throws(() => readConfig(env), new ConfigError(`${missing} must be set when VEHICLE_LOOKUP is dvla+dvsa.`));
  });
}

test('files lie in a folder or a bucket', () => {
  const credentials = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  const files = (FILES: string, more = {}) =>
    readConfig({ FILES, DATA_DIR: '/var/data', BASE_URL: 'https://api.example.com', ...more }).files;
  const addresses = 'https://api.example.com/files';
  assert.deepEqual(readConfig({ DATA_DIR: '/var/data' }).files, {
    kind: 'folder',
    folder: resolve('/var/data/files'),
    addresses: 'http://127.0.0.1:4000/files',
  });
  assert.deepEqual(files('/mnt/photos'), { kind: 'folder', folder: resolve('/mnt/photos'), addresses });
  const bucket = { kind: 'bucket', bucket: 'photos', endpoint: 'https://s3.example.com', accessKeyId: 'id', secretAccessKey: 'secret' };
  assert.deepEqual(files('s3://photos?endpoint=https://s3.example.com', credentials), { ...bucket, region: 'us-east-1', addresses });
  assert.deepEqual(files('s3://photos?endpoint=https://s3.example.com/&region=eu-west-2&public=https://cdn.example.com', credentials), {
    ...bucket,
    region: 'eu-west-2',
    addresses: 'https://cdn.example.com',
  });
  assert.throws(
    () => files('s3://photos?endpoint=https://s3.example.com'),
    new ConfigError('AWS_ACCESS_KEY_ID must be set when FILES is a bucket.'),
  );
  for (const wrong of [
    's3://photos',
    's3://photos?endpoint=s3.example.com',
    's3://photos?endpoint=https://s3.example.com&acl=public',
    'gs://photos',
    's3://photos/deep?endpoint=https://s3.example.com',
  ])
    assert.throws(() => files(wrong, credentials), /^Error: FILES must be a folder, or s3:/, wrong);
});

test('mail goes to the server that is named, and else into a folder beside the data', () => {
  const from = { name: 'Forecourt', address: 'forecourt@api.example.com' };
  const mail = (env: NodeJS.ProcessEnv) => readConfig({ BASE_URL: 'https://api.example.com', DATA_DIR: '/var/data', ...env }).mail;
  assert.deepEqual(mail({}), { kind: 'outbox', folder: resolve('/var/data/outbox'), from });
  assert.deepEqual(mail({ SMTP_URL: 'smtps://me%40x.example:a%2Fb%3A@[::1]', MAIL_FROM: 'Smith & Sons <dms@x.example>' }), {
    ...{ kind: 'server', host: '::1', port: 465, secure: true, auth: { user: 'me@x.example', password: 'a/b:' } },
    from: { name: 'Smith & Sons', address: 'dms@x.example' },
  });
});

test('two servers cannot have one port', () => {
  assert.throws(
    () => readConfig({ API_PORT: '4100', METRICS_PORT: '4100' }),
    new ConfigError('METRICS_PORT must differ from API_PORT, and both are 4100.'),
  );
  assert.throws(() => readConfig({ DMS_PORT: '4000' }), new ConfigError('DMS_PORT must differ from API_PORT, and both are 4000.'));
  assert.throws(() => readConfig({ METRICS_PORT: '4001' }), new ConfigError('METRICS_PORT must differ from DMS_PORT, and both are 4001.'));
});

test('a master key is generated once, for its owner alone, and read again', (t) => {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'forecourt-')), 'data');
  t.after(() => rmSync(resolve(dataDir, '..'), { recursive: true }));
  const [key, ...others] = loadMasterKeys({ masterKeys: [], dataDir });
  assert.equal(key?.length, 32);
  assert.equal(others.length, 0);
  if (process.platform !== 'win32') assert.equal(statSync(join(dataDir, 'master-key')).mode & 0o777, 0o600);
  assert.deepEqual(loadMasterKeys({ masterKeys: [], dataDir }), [key]);

  const configured = [randomBytes(32)];
  assert.equal(loadMasterKeys({ masterKeys: configured, dataDir }), configured);

  writeFileSync(join(dataDir, 'master-key'), 'half a k');
  assert.throws(() => loadMasterKeys({ masterKeys: [], dataDir }), ConfigError);
});
