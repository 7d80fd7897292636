import { publishableScopes } from '#modules/keys/contract.ts';
import { permissions, scopeCatalogue, scopeNames } from '#modules/staff/contract.ts';
import type { Operation } from '#platform/contract.ts';
import { catalogue } from '#platform/errors.ts';
import { cell } from './reference-fields.ts';
import { codes, everyRequest, refusalsOf } from './refusals.ts';

/** The scopes: what each opens, and the permission it needs. */
export function scopesPage(operations: readonly Operation[]): string {
  const rows = scopeNames.map((scope) => {
    const { permission, personalData } = scopeCatalogue[scope];
    const opens = operations.filter(({ access }) => access.scopes.includes(scope)).map(({ id }) => `\`${id}\``);
    const needed = permission === null ? 'none' : `\`${permission}\` (${permissions[permission]})`;
    const publishable = publishableScopes.some((one) => one === scope) ? 'yes' : 'no';
    return `| \`${scope}\` | ${needed} | ${personalData ? 'yes' : 'no'} | ${publishable} | ${opens.join(', ')} |`;
  });
  return `# Scopes

A key can do what its scopes and the present permissions of its owner both allow. A lost permission answers 403
\`scope_not_permitted_for_owner\`, a scope the key never had 403 \`insufficient_scope\`. A publishable key carries exactly the scopes marked
so; the \`public:\` scopes are for publishable keys alone. \`:write\` does not include \`:read\`, but a write answers with the whole record.

| Scope | Permission of the owner | Reaches personal data | Publishable keys | Opens |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

/** Every code the API answers. */
export function errorsPage(operations: readonly Operation[]): string {
  const where = whereMet(operations);
  const rows = codes
    .map((code) => ({ code, ...catalogue[code] }))
    .sort((a, b) => a.status - b.status)
    .map(({ code, status, message }) => `| ${status} | <a id="${code}"></a>\`${code}\` | ${cell(message)} | ${where.get(code)} |`);
  return `# Errors

Every refusal has this body; branch on \`code\`, never on \`message\`. \`errors\` is there on 422, \`required\` on a 403 that misses something
that can be named, and \`request_id\` is the same as the header \`X-Request-Id\`.

\`\`\`json
{
  "success": false,
  "message": "The request has errors.",
  "code": "validation_failed",
  "errors": { "limit": ["At most 100."] },
  "doc_url": "…/docs/errors#validation_failed",
  "request_id": "req_…"
}
\`\`\`

| Status | Code | | Where |
|---|---|---|---|
${rows.join('\n')}
`;
}

function whereMet(operations: readonly Operation[]): Map<string, string> {
  return new Map(
    codes.map((code) => {
      const at = operations.filter((operation) => [...refusalsOf(operation).values()].flat().includes(code)).map(({ id }) => `\`${id}\``);
      return [
        code,
        wherever[code] ?? (everyRequest.includes(code) || at.length === operations.length ? 'any request' : at.join(', ') || '–'),
      ];
    }),
  );
}

/** The codes no operation answers. */
const wherever: Record<string, string> = {
  method_not_allowed: 'any path',
  bad_request: 'bytes that are not HTTP',
};
