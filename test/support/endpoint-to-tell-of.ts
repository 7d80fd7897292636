import type { Service } from '#platform/service.ts';
import { endpointRow } from './deliveries.ts';

/** An endpoint that mails are told about, which need not send anything. */
export async function endpointToTellOf(service: Service, id: string, callingDealerId = id) {
  const known = { url: 'https://erp.example.com/hooks/7?token=k4', description: 'Orders for the ERP' };
  return { id: await endpointRow({ service, id }, { ...known, callingDealerId }), ...known };
}
