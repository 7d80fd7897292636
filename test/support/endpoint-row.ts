import { randomUUID } from 'node:crypto';
import type { Service } from '#platform/service.ts';

/** An endpoint as it lies in the database, for what is about endpoints and not about how they are made. */
export async function endpointRow({ pools }: Service, dealerId: string, callingDealerId = dealerId) {
  const endpoint = { id: randomUUID(), url: 'https://erp.example.com/hooks/7?token=k4', description: 'Orders for the ERP' };
  await pools.doors.query(
    `insert into webhook_endpoint (dealer_id, id, calling_dealer_id, url, description, events, readable_types, all_branches, branch_ids,
       enabled, created_by, secret_hint, secret_enc, created_at, updated_at)
     values ($1, $2, $3, $4, $5, '{*}', '{}', true, '{}', true, '{}', 'abcd', '', now(), now())`,
    [dealerId, endpoint.id, callingDealerId, endpoint.url, endpoint.description],
  );
  return endpoint;
}
