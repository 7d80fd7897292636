import { gzipSync } from 'node:zlib';

/** What the page may load and ask: this server, and the address the document names for the API. Nothing of anybody else. */
export const docsPolicy = (baseUrl: string): string =>
  [
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; img-src 'self' data: blob:; worker-src 'self' blob:",
    `connect-src 'self' ${new URL(baseUrl).origin}`,
  ].join('; ');

/** The interactive reference. Its addresses are relative, so that it works behind any prefix. */
export const docsPage = (): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Reference – Forecourt API</title></head>
<body><noscript>This page needs JavaScript. The same is in <a href="openapi.json">openapi.json</a>.</noscript>
<script id="api-reference" data-url="openapi.json" data-configuration='${JSON.stringify(configuration)}'></script>
<script src="docs/reference.js"></script></body></html>
`;

/** Everything that would ask another server is off: fonts, telemetry, the hosted client and its agent. */
const configuration = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'none',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
};

/** The program of the page, compressed, loaded when somebody first reads the reference. */
export function docsProgram(): Promise<Buffer> {
  program ??= loadProgram();
  return program;
}

let program: Promise<Buffer> | undefined;

interface PluginRoute {
  readonly url: string;
  handler(request: unknown, reply: unknown): unknown;
}

/** Scalar's package gives its program through a plugin for Fastify alone: this asks the plugin's route for it, and mounts none. */
async function loadProgram(): Promise<Buffer> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const routes: PluginRoute[] = [];
  const host = { route: (route: PluginRoute) => routes.push(route), hasPlugin: () => false };
  plugin(host as never, { routePrefix: '/docs', configuration: { url: 'openapi.json' } } as never, () => undefined);
  const reply = { header: () => reply, send: (body: string) => body };
  const text = routes.find(({ url }) => url.endsWith('.js'))?.handler({}, reply);
  if (typeof text !== 'string') throw new Error('@scalar/fastify-api-reference does not give its program as it used to.');
  return gzipSync(text);
}
