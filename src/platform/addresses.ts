import { BlockList, isIP } from 'node:net';

/** Whether an address lies in a list of addresses and CIDR ranges. What is not an address lies nowhere. */
export function contains(ranges: readonly string[], address: string): boolean {
  const ip = plainAddress(address);
  const family = isIP(ip);
  if (family === 0) return false;
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    const version = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(network, version);
    else list.addSubnet(network, Number(bits), version);
  }
  return list.check(ip, family === 6 ? 'ipv6' : 'ipv4');
}

/** Without brackets, port and zone; an IPv4 address inside IPv6 is that IPv4 address. */
export function plainAddress(address: string): string {
  const host = /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
  const bare = host.replace(/%.*$/, '');
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (dotted) return dotted;
  const hex = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(bare);
  if (!hex) return bare;
  const [high, low] = [Number.parseInt(hex[1]!, 16), Number.parseInt(hex[2]!, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** Whose allowance a request without a key counts on: an IPv4 address, or the /64 of an IPv6 address. What a proxy sends that is none is one and the same. */
export function visitorOf(address: string): string {
  const ip = plainAddress(address);
  if (isIP(ip) === 0) return 'unknown';
  if (isIP(ip) === 4) return ip;
  const [head = '', tail] = ip.split('::');
  const start = head === '' ? [] : head.split(':');
  const end = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? start : [...start, ...Array(8 - start.length - end.length).fill('0'), ...end];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
