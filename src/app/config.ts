import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import type { FilesPlace } from '#platform/files/store.ts';
import type { LookupSettings } from '#platform/lookup/lookup.ts';
import { publishedUrls } from '#platform/lookup/lookup.ts';
import type { Person, PostboxPlace } from '#platform/mail/postbox.ts';
import { parseMailServer, parsePerson, senderAt } from '#platform/mail/settings.ts';
import type { PlanLimits } from '#platform/service.ts';

/** What the environment says, read once. */
export type Config = {
  /** null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly host: string;
  readonly apiPort: number;
  readonly dmsPort: number;
  readonly baseUrl: string;
  readonly dmsUrl: string;
  /** Newest first; empty: generated into the data folder. */
  readonly masterKeys: Buffer[];
  readonly trustedProxies: string[];
  /** Pages from which an assistant may call with an OAuth token. */
  readonly mcpOrigins: string[];
  /** Calls of the OAuth endpoints per client address. */
  readonly oauthCallsPerMinute: number;
  /** Where photos are kept. */
  readonly files: FilesPlace;
  /** Where mail goes. */
  readonly mail: PostboxPlace;
  /** Ranges that are not public, from which photos may come all the same. */
  readonly imageAllowAddresses: string[];
  /** Ranges that are not public, to which events may be delivered all the same. */
  readonly webhookAllowAddresses: string[];
  readonly limits: PlanLimits;
  readonly lookup: LookupSettings;
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
  const dmsPort = read('DMS_PORT', port, 4001);
  const metricsPort = read('METRICS_PORT', port, null);
  if (metricsPort === apiPort) throw new ConfigError(`METRICS_PORT must differ from API_PORT, and both are ${apiPort}.`);
  if (dmsPort === apiPort) throw new ConfigError(`DMS_PORT must differ from API_PORT, and both are ${apiPort}.`);
  if (dmsPort === metricsPort) throw new ConfigError(`METRICS_PORT must differ from DMS_PORT, and both are ${dmsPort}.`);
  const dataDir = resolve(read('DATA_DIR', text, './.data'));
  const baseUrl = read('BASE_URL', webOrigin, `http://${reachable(host)}:${apiPort}`);

  return {
    databaseUrl: read('DATABASE_URL', postgresUrl, null),
    dataDir,
    host,
    apiPort,
    dmsPort,
    baseUrl,
    dmsUrl: read('DMS_URL', webOrigin, `http://${reachable(host)}:${dmsPort}`),
    masterKeys: read('MASTER_KEY', masterKeyList, []),
    trustedProxies: read('TRUSTED_PROXIES', cidrList, []),
    mcpOrigins: read('MCP_ORIGINS', originList, [new URL(baseUrl).origin]),
    oauthCallsPerMinute: read('OAUTH_CALLS_PER_MINUTE', count(1), 60),
    files: readFiles(read, join(dataDir, 'files'), `${baseUrl}/files`),
    mail: {
      ...read('SMTP_URL', mailServer, { kind: 'outbox', folder: join(dataDir, 'outbox') } as const),
      from: read('MAIL_FROM', person, senderAt(baseUrl)),
    },
    imageAllowAddresses: read('IMAGE_ALLOW_ADDRESSES', cidrList, []),
    webhookAllowAddresses: read('WEBHOOK_ALLOW_ADDRESSES', cidrList, []),
    limits: {
      freeStockCap: read('FREE_STOCK_CAP', count(0), 25),
      sandboxStockCap: read('SANDBOX_STOCK_CAP', count(0), 500),
      sandboxStockShare: read('SANDBOX_STOCK_SHARE', count(0), 50),
      themeQuotaStandard: read('THEME_QUOTA_STANDARD', count(0), 10),
      themeQuotaProfessional: read('THEME_QUOTA_PROFESSIONAL', count(0), 30),
    },
    lookup: readLookup(read),
    workers: read('WORKERS', count(1, 256), 1),
    logLevel: read('LOG_LEVEL', oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']), 'info'),
    metricsPort,
  };
}

/** A folder, or a bucket with the credentials that tools of its kind read from the environment. */
function readFiles(read: Reader, folder: string, addresses: string): FilesPlace {
  const place = read('FILES', filesPlace, { folder });
  if ('folder' in place) return { kind: 'folder', folder: place.folder, addresses };
  const credential = (name: string): string => {
    const value = read(name, token, null);
    if (value === null) throw new ConfigError(`${name} must be set when FILES is a bucket.`);
    return value;
  };
  return {
    kind: 'bucket',
    bucket: place.bucket,
    endpoint: place.endpoint,
    region: place.region ?? read('AWS_REGION', token, 'us-east-1'),
    accessKeyId: credential('AWS_ACCESS_KEY_ID'),
    secretAccessKey: credential('AWS_SECRET_ACCESS_KEY'),
    addresses: place.public ?? addresses,
  };
}

/** The DVSA is asked beside the DVLA, for the model. */
function readLookup(read: Reader): LookupSettings {
  const chosen = read('VEHICLE_LOOKUP', oneOf(['builtin', 'dvla', 'dvla+dvsa']), 'builtin');
  const dvla = { apiUrl: read('DVLA_API_URL', webUrl, publishedUrls.dvla), apiKey: read('DVLA_API_KEY', token, null) };
  const dvsa = {
    apiUrl: read('DVSA_API_URL', webUrl, publishedUrls.dvsa),
    apiKey: read('DVSA_API_KEY', token, null),
    tokenUrl: read('DVSA_TOKEN_URL', webUrl, null),
    clientId: read('DVSA_CLIENT_ID', token, null),
    clientSecret: read('DVSA_CLIENT_SECRET', token, null),
  };
  const needed = <T>(name: string, value: T | null): T => {
    if (value === null) throw new ConfigError(`${name} must be set when VEHICLE_LOOKUP is ${chosen}.`);
    return value;
  };
  return {
    dvla: chosen === 'builtin' ? null : { ...dvla, apiKey: needed('DVLA_API_KEY', dvla.apiKey) },
    dvsa:
      chosen === 'dvla+dvsa'
        ? {
            apiUrl: dvsa.apiUrl,
            apiKey: needed('DVSA_API_KEY', dvsa.apiKey),
            tokenUrl: needed('DVSA_TOKEN_URL', dvsa.tokenUrl),
            clientId: needed('DVSA_CLIENT_ID', dvsa.clientId),
            clientSecret: needed('DVSA_CLIENT_SECRET', dvsa.clientSecret),
          }
        : null,
  };
}

/** What a variable takes, in words, and how its text becomes a value: undefined when it cannot. `secret`: its text is never shown. */
type Kind<T> = { takes: string; parse: (text: string) => T | undefined; secret?: true };

type Reader = ReturnType<typeof reader>;

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

/** Goes into a header, so nothing else may be in it. */
const token: Kind<string> = {
  takes: 'a text of printable characters without spaces',
  parse: (given) => (/^[\x21-\x7e]+$/.test(given) ? given : undefined),
  secret: true,
};

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

/** Cookies and the sign-in are a host's own: what shares it could not be kept apart. */
const webOrigin: Kind<string> = {
  takes: 'an http or https address without a path, such as https://dms.example.com',
  parse: (given) => {
    const url = webUrl.parse(given);
    return url === undefined || new URL(url).pathname !== '/' ? undefined : url;
  },
};

type Place = { folder: string } | { bucket: string; endpoint: string; region: string | null; public: string | null };

const filesPlace: Kind<Place> = {
  takes: 'a folder, or s3://bucket?endpoint=https://s3.example.com with, if need be, &region= and &public=',
  parse: (given) => {
    if (!/^[a-z0-9]+:\/\//i.test(given)) return { folder: resolve(given) };
    const url = URL.parse(given);
    const one = (name: string) => url?.searchParams.get(name) ?? null;
    const address = (name: string) => webUrl.parse(one(name) ?? '') ?? null;
    const known = ['endpoint', 'region', 'public'];
    const endpoint = address('endpoint');
    if (url?.protocol !== 's3:' || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host) || !/^\/?$/.test(url.pathname)) return undefined;
    if (!endpoint || (one('public') !== null && !address('public')) || [...url.searchParams.keys()].some((name) => !known.includes(name)))
      return undefined;
    return { bucket: url.host, endpoint, region: one('region'), public: address('public') };
  },
};

const mailServer: Kind<NonNullable<ReturnType<typeof parseMailServer>>> = {
  takes: 'the address of a mail server, such as smtps://user:password@smtp.example.com or smtp://localhost:1025',
  parse: parseMailServer,
  secret: true,
};

const person: Kind<Person> = { takes: 'an e-mail address, alone or as Name <name@example.com>', parse: parsePerson };

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

const originList: Kind<string[]> = {
  takes: 'a list of origins such as https://assistant.example, separated by commas',
  parse: (given) => every(items(given), webOrigin.parse),
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
