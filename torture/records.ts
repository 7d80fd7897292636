import type { Way } from './ways.ts';

// What a run writes down, each by whoever saw it. Times are milliseconds of this machine's clock.

/** A webhook endpoint of the run: its path at the sink names it there. */
export interface Endpoint {
  readonly id: string;
  readonly dealerId: string;
  readonly path: string;
  readonly way: Way;
  readonly events: readonly string[];
}

/** A change that the API acknowledged, and the events it must have caused, each by type and what it is about. */
export interface Acknowledged {
  readonly dealerId: string;
  /** When it was first sent. */
  readonly sentAt: number;
  readonly knownAt: number;
  readonly causes: readonly string[];
}

/** What the sink received. */
export interface Received {
  readonly path: string;
  readonly eventId: string;
  readonly hash: string;
  readonly at: number;
  /** Of the connection it came over. */
  readonly port: number;
  readonly signature: string;
  /** Whether its signatures are those of the endpoint's secret over these bytes and this time. */
  readonly genuine: boolean;
}

/** An event as `GET /v1/events` lists it, and when by the database it happened. */
export interface Listed {
  readonly dealerId: string;
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly about: string;
  readonly hash: string;
  readonly at: number;
}

/** An attempt as the delivery log has it. */
export interface Attempted {
  readonly endpointId: string;
  readonly eventId: string;
  readonly attempt: number;
  readonly success: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly at: number;
  readonly durationMs: number;
  readonly signature: string;
}

/** One process of a role, from its start to its end. */
export interface Life {
  readonly role: string;
  readonly from: number;
  /** null while it runs. */
  to: number | null;
  /** Whether it came to serve. */
  served: boolean;
  /** Ended by the run; else it ended by itself. */
  killed: boolean;
  /** The connections it made to receivers, by their port: when. */
  readonly ports: Map<number, number[]>;
}

/** A time during which there was no database. */
export interface Outage {
  readonly from: number;
  to: number;
}

/** What was being sent when a courier was killed: it may be what that one had claimed. */
export interface Bereft {
  readonly killedAt: number;
  readonly endpointId: string;
  readonly eventId: string;
  readonly attempt: number;
  readonly leaseUntil: number;
}

/** A delivery that was not over when the run came to rest, or was given up waiting for. */
export interface Left {
  readonly endpointId: string;
  readonly eventId: string;
  readonly attempt: number;
  readonly state: 'due' | 'sending';
  readonly nextAt: number;
  readonly leaseUntil: number | null;
}

/** All of it. */
export interface Records {
  readonly endpoints: readonly Endpoint[];
  readonly acknowledged: readonly Acknowledged[];
  readonly received: readonly Received[];
  /** In the order of each dealer's list. */
  readonly listed: readonly Listed[];
  /** Of each dealer, the ids of the events in the order in which whoever followed `resume_cursor` meanwhile was told of them. */
  readonly followed: ReadonlyMap<string, readonly string[]>;
  readonly attempted: readonly Attempted[];
  readonly lives: readonly Life[];
  readonly outages: readonly Outage[];
  readonly bereft: readonly Bereft[];
  /** Read before the log: what ended in between is in both. */
  readonly left: readonly Left[];
  /** When the first fault was, and the last had passed. */
  readonly faults: { readonly from: number; readonly to: number };
  /** When the log was read: what came in just before may be in it or not. */
  readonly closedAt: number;
}

/** What an event is told apart by: its type, and the change that caused it or the record it is about. */
export const causeOf = (type: string, about: string): string => `${type} ${about}`;

export const typeOf = (cause: string): string => cause.split(' ')[0]!;
