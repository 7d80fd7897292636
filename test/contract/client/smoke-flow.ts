// A client as somebody outside would write it, on nothing but `fetch` and the types generated from the contract.
// `node smoke-flow.ts <address> <key>` runs it; the test beside it generates the types and compiles it.
import type { components, paths } from 'forecourt-api';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type Answered<O> = O extends { responses: infer R } ? Json<R[keyof R & (200 | 201 | 202)]> : never;
type Wanted<O> = (O extends { parameters: infer P } ? { [K in keyof P as K extends 'path' | 'query' ? K : never]: P[K] } : unknown) &
  (O extends { requestBody: infer B } ? { body: Json<B> } : unknown);

type Refused = Error & { readonly status: number; readonly answer: components['schemas']['Error'] };

const [, , address = '', key = ''] = process.argv;

async function ask<P extends keyof paths, M extends Method & keyof paths[P]>(
  method: M,
  path: P,
  wanted: Wanted<paths[P][M]>,
): Promise<Answered<paths[P][M]>> {
  const {
    path: names = {},
    query = {},
    body,
  } = wanted as { path?: Record<string, string>; query?: Record<string, unknown>; body?: unknown };
  const url = new URL(address + String(path).replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? '')));
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const response = await fetch(url, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Answered<paths[P][M]> & Refused['answer'];
  if (!response.ok) throw Object.assign(new Error(answer.message), { status: response.status, answer });
  return answer;
}

function expect(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

const { data: me } = await ask('get', '/v1/me', {});
expect('plan' in me && me.key.kind === 'secret', 'a secret key is shown its dealership');

const { data: made } = await ask('post', '/v1/vehicles', {
  body: { condition: 'USED', make: 'Škoda', model: 'Octavia', external_id: 'smoke-1', asking_price: 1_849_500 },
});
expect(made.asking_price?.amount === 1_849_500 && made.asking_price.currency === me.currency, 'money comes out with its currency');

const { data: changed } = await ask('patch', '/v1/vehicles/{id}', { path: { id: made.id }, body: { status: 'FOR_SALE', colour: 'Blue' } });
expect(changed.status === 'FOR_SALE' && changed.colour === 'Blue', 'a change changes');

const { data: listed, meta } = await ask('get', '/v1/vehicles', { query: { limit: 1, status: ['FOR_SALE'], make: ['škoda'] } });
const [first] = listed;
expect(first !== undefined && 'title' in first && first.id === made.id, 'a list finds it');
expect(!meta.has_more && meta.next_cursor === null, 'and nothing else');

const { data: customer } = await ask('post', '/v1/customers', { body: { last_name: 'Ash', email: 'ash@customer.example' } });
const { data: enquiry } = await ask('post', '/v1/enquiries', { body: { customer_id: customer.id, vehicle_id: made.id } });
expect(enquiry.customer?.id === customer.id && enquiry.vehicle?.id === made.id, 'an enquiry shows whose it is, and what about');
await ask('post', '/v1/enquiries/{id}/notes', { path: { id: enquiry.id }, body: { body: 'Rang back.' } });
const { data: won } = await ask('get', '/v1/enquiries/{id}', { path: { id: enquiry.id } });
expect(won.notes.length === 1 && won.notes[0]?.body === 'Rang back.', 'a note stands with its enquiry');

const { data: batch } = await ask('post', '/v1/vehicles/batch', {
  body: [{ external_id: 'smoke-1', mileage: 18_000 }],
  query: { dry_run: true },
});
expect(batch.items[0]?.matched_by === 'external_id', 'a dry run says what would happen');

const { data: gone } = await ask('delete', '/v1/vehicles/{id}', { path: { id: made.id } });
expect(gone.deleted, 'what is deleted leaves a tombstone');

const refused = await ask('get', '/v1/vehicles/{id}', { path: { id: made.id } }).catch((error: Refused) => error);
expect('answer' in refused && refused.status === 404 && refused.answer.code === 'not_found', 'what is deleted is not found');

/** What the types refuse; never run. */
export const mistakes = async () => {
  // @ts-expect-error There is no such path.
  await ask('get', '/v1/nothing', {});
  // @ts-expect-error There is no such parameter.
  await ask('get', '/v1/vehicles', { query: { page: 2 } });
  // @ts-expect-error It must be said whether it is new or used.
  await ask('post', '/v1/vehicles', { body: { make: 'Škoda', model: 'Octavia' } });
  // @ts-expect-error There is no such status.
  await ask('patch', '/v1/vehicles/{id}', { path: { id: '' }, body: { status: 'GONE' } });
  // @ts-expect-error There is no such field in an answer.
  (await ask('get', '/v1/customers/{id}', { path: { id: '' } })).data.nickname;
};

console.log('The flow is through.');
