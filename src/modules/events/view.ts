import { toDateTime } from '#platform/dates.ts';
import { eventId } from './contract.ts';
import type { Actor, StoredEvent } from './queries.ts';

/**
 * An event as it is read and as it is delivered, each time the same text: `data` goes out as it was stored. Who did it is told to the
 * dealership it was; in the sandbox the others learn the kind.
 */
export function eventText(row: StoredEvent, viewerDealerId: string): string {
  const { id, type, created_at, data, sequence, branch_id, actor, calling_dealer_id, request_id } = row;
  const head = JSON.stringify({ id: eventId(id), type, created_at: toDateTime(created_at) });
  const rest = JSON.stringify({
    sequence,
    branch_id,
    actor: calling_dealer_id === viewerDealerId ? named(actor) : { kind: actor.kind, id: null, name: null },
    request_id,
  });
  return `${head.slice(0, -1)},"data":${data},${rest.slice(1)}`;
}

/** In one order of members, whatever the one in which they are kept. */
const named = ({ kind, id, name }: Actor): Actor => ({ kind, id, name });
