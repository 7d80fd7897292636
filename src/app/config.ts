import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { PlanLimits } from '#platform/service.ts';

/** What the environment says, read once. */
export type Config = {
  /** null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly host: string;
  readonly apiPort: number;
  readonly baseUrl: string;
  /** Newest first; empty: generated into the data folder. */
  readonly masterKeys: Buffer[];
  readonly trustedProxies: string[];
  readonly limits: PlanLimits;
  readonly workers: number;
  readonly logLevel: string;
  readonly metricsPort: number | null;
};

/** A value that cannot be used: one line that names the variable and what it takes. */
export class ConfigError extends Error {}

export function readConfig(env: NodeJS.ProcessEnv): Config {
  const read = reader(env);
  const host = read('HOST', hostName, '127.0.0.1');
  const apiPort = read('API_PORT', port, 4000);
  const metricsPort = read('METRICS_PORT', port, null);
  if (metricsPort === apiPort) throw new ConfigError(`METRICS_PORT must differ from API_PORT, and both are ${apiPort}.`);
  read('VEHICLE_LOOKUP', oneOf(['builtin']), 'builtin');

  return {
    databaseUrl: read('DATABASE_URL', postgresUrl, null),
    dataDir: resolve(read('DATA_DIR', text, './.data')),
    host,
    apiPort,
    baseUrl: read('BASE_URL', webUrl, `http://${reachable(host)}:${apiPort}`),
    masterKeys: read('MASTER_KEY', masterKeyList, []),
    trustedProxies: read('TRUSTED_PROXIES', cidrList, []),
    limits: {
      freeStockCap: read('FREE_STOCK_CAP', count(0), 25),
      sandboxStockCap: read('SANDBOX_STOCK_CAP', count(0), 500),
      sandboxStockShare: read('SANDBOX_STOCK_SHARE', count(0), 50),
      themeQuotaStandard: read('THEME_QUOTA_STANDARD', count(0), 10),
      themeQuotaProfessional: read('THEME_QUOTA_PROFESSIONAL', count(0), 30),
    },
    workers: read('WORKERS', count(1, 256), 1),
    logLevel: read('LOG_LEVEL', oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']), 'info'),
    metricsPort,
  };
}

/** What a variable takes, in words, and how its text becomes a value: undefined when it cannot. `secret`: its text is never shown. */
type Kind<T> = { takes: string; parse: (text: string) => T | undefined; secret?: true };

/** A variable that is empty counts as not set. */
function reader(env: NodeJS.ProcessEnv) {
  return <T, D>(name: string, { takes, parse, secret }: Kind<T>, otherwise: D): T | D => {
    const given = env[name]?.trim();
    if (!given) return otherwise;
    const value = parse(given);
    if (value === undefined) throw new ConfigError(`${name} must be ${takes}${secret ? '' : `, not ${JSON.stringify(given)}`}.`);
    return value;
  };
}

const text: Kind<string> = { takes: 'a text', parse: (given) => given };

const port: Kind<number> = { takes: 'a port between 1 and 65535', parse: (given) => whole(given, 1, 65_535) };

const count = (least: number, most = 1_000_000_000): Kind<number> => ({
  takes: `a whole number from ${least} to ${most}`,
  parse: (given) => whole(given, least, most),
});

const oneOf = (values: readonly string[]): Kind<string> => ({
  takes: values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`,
  parse: (given) => values.find((value) => value === given),
});

const hostName: Kind<string> = {
  takes: 'an IP address or a host name',
  parse: (given) => (isIP(given) || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(given) ? given : undefined),
};

const webUrl: Kind<string> = {
  takes: 'an http or https address without a query, such as https://api.example.com',
  parse: (given) => {
    const url = URL.parse(given);
    if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) return undefined;
    return url.href.replace(/\/+$/, '');
  },
};

const postgresUrl: Kind<string> = {
  takes: 'the address of a PostgreSQL database, such as postgres://user:password@host:5432/database',
  parse: (given) => (/^postgres(ql)?:$/.test(URL.parse(given)?.protocol ?? '') ? given : undefined),
  secret: true,
};

const masterKeyList: Kind<Buffer[]> = {
  takes: '32 bytes in base64, or a list of such, newest first, separated by commas',
  parse: parseMasterKeys,
  secret: true,
};

const cidrList: Kind<string[]> = {
  takes: 'a list of address ranges such as 10.0.0.0/8, separated by commas',
  parse: (given) => every(items(given), cidr),
};

/** Master keys as text: base64, separated by commas or white space. Undefined when one of them is no key. */
export function parseMasterKeys(given: string): Buffer[] | undefined {
  return every(items(given), (item) => {
    const key = /^[A-Za-z0-9+/_-]{43}=?$/.test(item) ? Buffer.from(item, 'base64') : null;
    return key?.length === 32 ? key : undefined;
  });
}

/** A range of addresses; an address alone is the range of itself. */
function cidr(given: string): string | undefined {
  const [address = '', length, ...rest] = given.split('/');
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)];
  if (!bits || rest.length > 0) return undefined;
  const prefix = length === undefined ? bits : whole(length, 0, bits);
  return prefix === undefined ? undefined : `${address}/${prefix}`;
}

const whole = (given: string, least: number, most: number): number | undefined => {
  const value = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
};

const items = (list: string): string[] => list.split(/[\s,]+/).filter(Boolean);

function every<T>(given: string[], parse: (item: string) => T | undefined): T[] | undefined {
  const values = given.map(parse);
  return values.length > 0 && values.every((value) => value !== undefined) ? (values as T[]) : undefined;
}

/** Where this machine reaches what listens on `host`: a wildcard is no address. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIP(host) === 6 ? `[${host}]` : host;
}
