import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { contains } from '../addresses.ts';
import { CallFault } from './fault.ts';

/** Asks name servers, and neither the hosts file nor search domains; a dead one keeps no thread waiting. */
export type Names = Pick<dns.Resolver, 'resolve4' | 'resolve6'>;

export const systemNames = (): Names => new dns.Resolver({ timeout: 2_000, tries: 2 });

/** Which addresses may be called: public ones that are not our own, and those of these ranges, which may be called without TLS too. */
export interface Vetting {
  readonly names: Names;
  readonly allow: readonly string[];
  /** The hosts by which the outside reaches us. */
  readonly ownHosts: readonly string[];
}

/** The address to connect to, once every address the host has was found fit. `secure`: with TLS. */
export async function vettedAddress(host: string, secure: boolean, { names, allow, ownHosts }: Vetting): Promise<string> {
  const found = await addressesOf(host, names);
  if (found.length === 0) throw new CallFault('dns');
  const others = found.filter((address) => !contains(allow, address));
  if (others.length === 0) return found[0]!;
  if (!others.every(isPublic)) throw new CallFault('blocked_address');
  if (!secure) throw new CallFault('plain_http');
  const ours = [...interfaces(), ...(await Promise.all(ownHosts.map((own) => addressesOf(own, names)))).flat()];
  if (others.some((address) => ours.some((own) => isSame(own, address)))) throw new CallFault('blocked_address');
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

/** A server's own public address leads past whatever guards it from outside. Where others translate it, only its name tells it. */
const interfaces = (): string[] => Object.values(networkInterfaces()).flatMap((known) => known?.map(({ address }) => address) ?? []);

export const isSame = (one: string, other: string): boolean =>
  isIP(one) !== 0 && isIP(other) !== 0 && ipaddr.process(one).toNormalizedString() === ipaddr.process(other).toNormalizedString();

/** IPv4 first. One family that cannot be asked does not matter when the other answers; none at all is a name that is not known. */
async function addressesOf(host: string, names: Names): Promise<string[]> {
  const literal = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal)) return [literal];
  const name = `${host}.`;
  const families = await Promise.allSettled([names.resolve4(name), names.resolve6(name)]);
  return families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
}
