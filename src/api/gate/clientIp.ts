import { contains } from './keyRestrictions.js'

/**
 * Who asks: the peer of the connection, or, where that is a trusted proxy, the last address of
 * X-Forwarded-For that is none. What stands before it there is the caller's own claim.
 */
export function clientIp(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: readonly string[],
): string {
  const isTrusted = (ip: string): boolean => trustedProxies.some((range) => contains(range, ip))
  const hops = [...(forwardedFor ?? '').split(',').map((hop) => hop.trim()), peer ?? 'unknown']
  const known = hops.filter((hop) => hop !== '')
  while (known.length > 1 && isTrusted(known.at(-1) ?? '')) known.pop()
  return known.at(-1) ?? 'unknown'
}
