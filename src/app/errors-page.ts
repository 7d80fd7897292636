import { catalogue } from '#platform/errors.ts';

/** The page `doc_url` points to: every code with its status and meaning. */
export function errorsPage(): string {
  const rows = Object.entries(catalogue)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(
      ([code, { status, message }]) => `<tr id="${code}"><td>${status}</td><td><code>${code}</code></td><td>${escaped(message)}</td></tr>`,
    );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Error codes – Forecourt API</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.4rem .8rem;border-bottom:1px solid #ddd;vertical-align:top}tr:target{background:#fff3c4}</style></head>
<body><h1>Error codes</h1><p>Branch on <code>code</code>; <code>message</code> is for people and may change.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table></body></html>
`;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
