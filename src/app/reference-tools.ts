import { z } from 'zod';
import { sendMessage } from '#platform/mcp/operation.ts';
import type { Tool } from '#platform/mcp/tool.ts';
import { shownTool } from '#platform/mcp/tool.ts';
import { tools } from './catalogue.ts';
import { cell, fieldTable } from './reference-fields.ts';

/** The tools, on the page of the operation that calls them. */
export const toolsOf = (tag: string): string =>
  tag === sendMessage.tag ? ['## Tools', overview(), ...tools.map(section)].join('\n\n') : '';

function overview(): string {
  const rows = tools.map(({ name, title, scope, hints }) => {
    const does = hints.readOnlyHint ? 'reads' : hints.destructiveHint ? 'overwrites' : 'adds';
    return `| [\`${name}\`](#${name}) | ${cell(title)} | \`${scope}\` | ${does} |`;
  });
  return `| Tool | | Scope | |\n|---|---|---|---|\n${rows.join('\n')}`;
}

function section(tool: Tool): string {
  const { name, description, inputSchema } = shownTool(tool);
  const taken = fieldTable(inputSchema);
  return [`### ${name}`, description, taken && `Takes:\n\n${taken}`, `Answers ${answered(tool)}.`].filter(Boolean).join('\n\n');
}

/** A record by its name, anything else by its fields. */
function answered({ output }: Tool): string {
  if (!(output instanceof z.ZodObject)) return 'content of its own';
  const { id, description } = output.meta() ?? {};
  const fields = Object.keys(output.shape).map((field) => `\`${field}\``);
  return id ? `\`${id}\`, as the API does` : (description ?? fields.join(', '));
}
