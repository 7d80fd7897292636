import type { Instant } from '../dates.ts';
import type { Connection } from './connect.ts';

/** A transaction under way. */
export interface OpenTransaction {
  readonly connection: Connection;
  /** When the patience with the dealer's turn ends, on the clock of this process. */
  readonly deadline: number;
  /** The time of the dealer's turn, once it is had. */
  turn: Instant | null;
  /** Rows that are written together at the end (events, activity), by the writer that writes them. */
  readonly gathered: Map<unknown, unknown[]>;
}
