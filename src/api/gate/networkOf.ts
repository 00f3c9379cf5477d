import ipaddr from 'ipaddr.js'

/** Leading 16-bit groups that one subscriber has in IPv6: the network of 64 bits. */
const GROUPS = 4

/**
 * The name under which limits count an address: an IPv4 address itself, an IPv6 address by its network
 * (/64), of which every subscriber has all 2^64 addresses.
 */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  const groups = address.parts.slice(0, GROUPS).map((part) => part.toString(16))
  return `${groups.join(':')}::/64`
}
