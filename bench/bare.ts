import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { appointmentView } from '#modules/appointments/view.ts';
import { customerView } from '#modules/customers/view.ts';
import { dealView } from '#modules/deals/view.ts';
import { detailsView as enquiryView } from '#modules/enquiries/view.ts';
import { invoiceView } from '#modules/invoices/view.ts';
import { jobCardView } from '#modules/job-cards/view.ts';
import { entryView } from '#modules/stock-book/view.ts';
import { vehicleView } from '#modules/vehicles/view.ts';
import type { Reader } from '#platform/context.ts';
import { fromMillis } from '#platform/dates.ts';
import { connect, prepared } from '#platform/db/connect.ts';
import type { Statement } from './statements.ts';

/** What the bare server answers: for each request line, by the statement the API sends for it. */
export interface BareOrder {
  readonly databaseUrl: string;
  readonly reader: Omit<Reader, 'now'>;
  readonly answers: readonly BareAnswer[];
}

export interface BareAnswer {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly statement: Statement;
  readonly shows: keyof typeof views;
  /** Of a page, as the API answered it: cursors are not made here. */
  readonly meta?: { readonly has_more: boolean };
}

/** As the API shows a record. */
const views = {
  vehicle: vehicleView,
  customer: customerView,
  enquiry: enquiryView,
  deal: dealView,
  appointment: appointmentView,
  jobCard: jobCardView,
  invoice: invoiceView,
  entry: entryView,
};

// The server to compare with: `node:http` and `pg`, the same statement, the same view, the same bytes. No keys, limits or checks, no transaction
// around a read, and a superuser's connections, for whom row level security does not apply.
const [{ databaseUrl, reader, answers }] = (await once(process, 'message')) as [BareOrder];
const { work: pool, end } = connect(databaseUrl);
const byRequest = new Map(answers.map((answer) => [`${answer.method} ${answer.path}`, handlerOf(pool, answer)]));

const server = createServer((request, response) => {
  const handle = byRequest.get(`${request.method} ${request.url}`);
  if (!handle) return void response.writeHead(404).end();
  handle(request).then(
    (body) => write(response, request.method === 'POST' ? 201 : 200, body),
    (error) => write(response, 500, `${error}`),
  );
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.once('SIGTERM', async () => {
  server.close();
  server.closeAllConnections();
  await end();
  process.exit();
});
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });

type Handle = (request: IncomingMessage) => Promise<string>;

function handlerOf(pool: pg.Pool, answer: BareAnswer): Handle {
  const { method, statement, meta } = answer;
  if (method === 'POST') return create(pool, answer);
  return async () => {
    const { rows } = await pool.query({ ...prepared(statement.sql), values: [...statement.values] });
    if (meta === undefined) return JSON.stringify({ data: viewOf(answer)(rows[0]) });
    // The statement asks for one row more than the page shows, to know whether more follow.
    return JSON.stringify({ data: (meta.has_more ? rows.slice(0, -1) : rows).map(viewOf(answer)), meta });
  };
}

/** Inserts the record of the statement again, under an id of its own; one statement alone is committed by itself. */
function create(pool: pg.Pool, answer: BareAnswer): Handle {
  const { sql, values } = answer.statement;
  const kept = JSON.parse(values[0] as string);
  const [row] = [kept].flat();
  return async (request) => {
    JSON.parse(await textOf(request));
    const created = { ...row, id: randomUUID() };
    await pool.query({ ...prepared(sql), values: [JSON.stringify(Array.isArray(kept) ? [created] : created), ...values.slice(1)] });
    return JSON.stringify({ data: viewOf(answer)(created) });
  };
}

const viewOf = ({ shows }: BareAnswer) => views[shows]({ ...reader, now: fromMillis(Date.now()) }) as (row: unknown) => object;

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function write(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) }).end(body);
}
