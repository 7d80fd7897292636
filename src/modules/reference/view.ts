import type { ReferenceCode } from './contract.ts';
import type { ShippedList } from './lists.ts';

/** What a dealer made of a code. */
export interface OwnCode {
  readonly code: string;
  readonly name: string;
  readonly description: string | null;
  readonly position: number;
  readonly is_active: boolean;
}

/** The shipped codes with the dealer's names, order and hiding laid over them, and the dealer's own codes among them. */
export function toCodes(list: ShippedList, own: readonly OwnCode[]): ReferenceCode[] {
  const ownCodes = new Map(own.map((row) => [row.code, row]));
  const shipped = list.codes.map(({ code, name, isDefault, isFinal, group }, index) => {
    const row = ownCodes.get(code);
    return {
      // Codes that came with a later version stand behind those the dealer has put in order.
      position: row?.position ?? own.length + index,
      shown: {
        code,
        name: row?.name ?? name,
        description: row?.description ?? null,
        is_active: row?.is_active ?? true,
        is_default: isDefault,
        is_final: isFinal,
        group,
      },
    };
  });
  const isStatusList = list.codes.some(({ isFinal }) => isFinal !== null);
  const added = own
    .filter(({ code }) => !list.codes.some((known) => known.code === code))
    .map(({ code, name, description, position, is_active }) => ({
      position,
      shown: { code, name, description, is_active, is_default: false, is_final: isStatusList ? false : null, group: null },
    }));
  return [...shipped, ...added].sort((a, b) => a.position - b.position).map(({ shown }) => shown);
}
