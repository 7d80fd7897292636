import { invalidFields, Refusal } from '#platform/errors.ts';
import type { Branches } from '#platform/reach.ts';
import { reaches } from '#platform/reach.ts';
import type { OrderStatus } from './contract.ts';

// What may become of a purchase order. Pure.

/** An open order is received or cancelled, once; the same again changes nothing. */
export function checkMove(from: OrderStatus, to: OrderStatus): void {
  if (from !== 'OPEN' && from !== to) throw new Refusal('request_refused', `The purchase order is ${from}.`);
}

/** A car to be ordered, as it was found. */
interface Found {
  readonly id: string;
  readonly branch_id: string;
  /** Of the order it is on. */
  readonly order_status: OrderStatus | null;
}

/** A car is on one order at a time, unless that was cancelled. */
export function checkOrdered(ids: readonly string[], found: readonly Found[], reach: Branches): void {
  const wrong = ids.flatMap((id, at): [string, string[]][] => {
    const vehicle = found.find((one) => one.id === id);
    if (!vehicle || !reaches(reach, vehicle.branch_id)) return [[`vehicle_ids.${at}`, ['No vehicle with this id is visible to the key.']]];
    const isFree = vehicle.order_status === null || vehicle.order_status === 'CANCELLED';
    return isFree ? [] : [[`vehicle_ids.${at}`, ['The vehicle is on another purchase order.']]];
  });
  if (wrong.length > 0) throw invalidFields(Object.fromEntries(wrong));
}
