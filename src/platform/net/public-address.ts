import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { contains } from '../addresses.ts';
import { CallFault } from './fault.ts';

/** Asks name servers, and neither the hosts file nor search domains; a dead one keeps no thread waiting. */
export type Names = Pick<dns.Resolver, 'resolve4' | 'resolve6'>;

export const systemNames = (): Names => new dns.Resolver({ timeout: 2_000, tries: 2 });

/** Which addresses may be called: public ones, and those of these ranges, which may be called without TLS too. */
export interface Vetting {
  readonly names: Names;
  readonly allow: readonly string[];
}

/** The address to connect to, once every address the host has was found fit. `secure`: with TLS. */
export async function vettedAddress(host: string, secure: boolean, { names, allow }: Vetting): Promise<string> {
  const literal = host.replace(/^\[(.*)\]$/, '$1');
  const found = isIP(literal) ? [literal] : await addressesOf(host, names);
  const fits = (address: string) => contains(allow, address) || (secure && isPublic(address) && !isOurs(address));
  if (!found.every(fits)) throw new CallFault('blocked_address');
  return found[0]!;
}

/** Whether an address is one of the public internet. Fails closed: what is not known to be public is not. */
export function isPublic(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return ipaddr.IPv4.parse(address).range() === 'unicast' && address !== azureHost;
  return version === 6 && !address.includes('%') && isPublicV6(ipaddr.IPv6.parse(address));
}

/** A host's own services on Azure, though the range says unicast. */
const azureHost = '168.63.129.16';

function isPublicV6(address: ipaddr.IPv6): boolean {
  const [first = 0, second = 0, , , fifth = 0, sixth = 0] = address.parts;
  const isGlobal = first >> 13 === 1; // 2000::/3, all that was ever given out
  const isIsatap = sixth === 0x5efe && (fifth & 0xfcff) === 0;
  const isDocumentation = first === 0x3fff && second < 0x1000;
  return isGlobal && !isIsatap && !isDocumentation && address.range() === 'unicast';
}

/** A server's own public address leads past whatever guards it from outside. */
const isOurs = (address: string): boolean =>
  Object.values(networkInterfaces()).some((known) => known?.some((own) => isSame(own.address, address)));

export const isSame = (one: string, other: string): boolean =>
  isIP(one) !== 0 && isIP(other) !== 0 && ipaddr.process(one).toNormalizedString() === ipaddr.process(other).toNormalizedString();

/** IPv4 first. One family that cannot be asked does not matter when the other answers. */
async function addressesOf(host: string, names: Names): Promise<string[]> {
  const name = `${host}.`;
  const [v4, v6] = await Promise.allSettled([names.resolve4(name), names.resolve6(name)]);
  const found = [v4, v6].flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
  if (found.length === 0) throw new CallFault('dns');
  return found;
}
