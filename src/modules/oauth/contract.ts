import { z } from 'zod';
import { secretScopes } from '#modules/keys/contract.ts';
import { text } from '#platform/contract.ts';

// ---- Apps ----

/** Schemes with which an address shows or runs something, instead of leading to an app. */
const noApps = [
  ...['javascript', 'data', 'vbscript', 'file', 'filesystem', 'blob', 'about', 'view-source', 'jar', 'ftp', 'ws', 'wss'],
  ...['mailto', 'tel', 'sms', 'urn', 'chrome', 'intent'],
];

/** This machine as a program on it is called: what answers there needs no certificate. */
const loopback = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** What is told to an app in its address beside what stands there. */
const told = ['code', 'state', 'iss', 'error', 'error_description'];

/** Compared letter by letter, so it is taken as it is written. */
function isRedirectUri(given: string): boolean {
  const url = /^[\x21-\x7e]+$/.test(given) && !/[#\\"<>]/.test(given) ? URL.parse(given) : null;
  if (!url || url.username || url.password || told.some((name) => url.searchParams.has(name))) return false;
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return given.startsWith('https://');
  if (scheme === 'http') return given.startsWith('http://') && loopback.test(url.hostname);
  return given.startsWith(`${scheme}:/`) && !noApps.includes(scheme);
}

const redirectUri = z.string().max(2048, { error: 'At most 2048 characters.', abort: true }).refine(isRedirectUri, {
  error:
    'An https address, an http address of this machine (http://127.0.0.1:8000/callback), or one with a scheme of the app’s own; no fragment, and no code, state, iss, error or error_description in its query.',
});

const page = z
  .string()
  .trim()
  .max(2048, { error: 'At most 2048 characters.', abort: true })
  .refine((given) => /^https:\/\/[^\s"<>\\]+$/i.test(given) && URL.canParse(given), {
    error: 'An https address, such as https://www.example.com.',
  });

/** An app that the operator registers. */
export const newApp = z.strictObject({
  name: text(120),
  website: page,
  logo: page.nullable().default(null),
  redirectUris: z.array(redirectUri).min(1, { error: 'At least one.' }).max(20, { error: 'At most 20.' }),
  scopes: z
    .array(z.enum(secretScopes as [string, ...string[]], { error: 'Not a scope an app can have.' }))
    .min(1, { error: 'At least one.' }),
});

export type NewApp = z.input<typeof newApp>;

// ---- How long things last ----

export const consentMinutes = 60;
export const codeMinutes = 10;
export const accessTokenSeconds = 3_600;
export const refreshTokenDays = 90;
/** For so long after an authorisation is over its codes and tokens are known for what they were. */
export const keptDays = 90;

// ---- The endpoints ----

export const authorizeParameters = [
  ...(['response_type', 'client_id', 'redirect_uri', 'scope', 'state', 'code_challenge', 'code_challenge_method'] as const),
];

export const clientParameters = ['client_id', 'client_secret'] as const;

export const tokenParameters = [
  ...clientParameters,
  ...(['grant_type', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope'] as const),
];

export const revokeParameters = [...clientParameters, 'token' as const];

const client = {
  client_id: z.string().optional().describe('Where the client does not authenticate itself by HTTP Basic.'),
  client_secret: z.string().optional(),
};

/** The body of a request for tokens. */
export const tokenRequest = z
  .object({
    grant_type: z.enum(['authorization_code', 'refresh_token']),
    code: z.string().optional().describe('With `authorization_code`: accepted once within 10 minutes.'),
    redirect_uri: z.string().optional().describe('With `authorization_code`: the address the code was issued for.'),
    code_verifier: z
      .string()
      .regex(/^[A-Za-z0-9._~-]{43,128}$/)
      .optional()
      .describe('With `authorization_code`: what the `code_challenge` is the SHA-256 of.'),
    refresh_token: z.string().optional().describe('With `refresh_token`: accepted once within 90 days.'),
    scope: z.string().optional().describe('With `refresh_token`: some of the granted scopes, for an access token with these alone.'),
    ...client,
  })
  .meta({ id: 'OAuthTokenRequest' });

/** The body of a revocation. */
export const revokeRequest = z
  .object({ token: z.string().describe('An access token, which ends; or a refresh token, with which all ends.'), ...client })
  .meta({ id: 'OAuthRevokeRequest' });

/** What is refused, as RFC 6749 has it. */
export const oauthFailure = z
  .object({
    error: z.string().describe('Stable: branch on this.'),
    error_description: z.string().describe('For the app’s developer; may change.'),
  })
  .meta({ id: 'OAuthError' });

/** What a code or refresh token is exchanged for. */
export const tokenResponse = z
  .object({
    access_token: z.string().describe('`svc_oat_…`, used like a key for an hour.'),
    token_type: z.literal('Bearer'),
    expires_in: z.literal(accessTokenSeconds),
    refresh_token: z.string().describe('`svc_ort_…`, accepted once within 90 days.'),
    scope: z.string().describe('The scopes of the access token, separated by spaces.'),
  })
  .meta({ id: 'OAuthTokens' });

export type TokenResponse = z.output<typeof tokenResponse>;
