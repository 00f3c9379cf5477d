import { contains } from './keyRestrictions.js'

/**
 * The address of the caller: the peer of the connection, or, where that is a trusted proxy, the last
 * address of X-Forwarded-For that is no trusted proxy. What stands before it there is the caller's own claim.
 */
export function clientIp(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: readonly string[],
): string {
  const isTrusted = (ip: string): boolean => trustedProxies.some((range) => contains(range, ip))
  const hops = [...(forwardedFor ?? '').split(',').map((hop) => hop.trim()), peer ?? 'unknown']
  const named = hops.filter((hop) => hop !== '')
  while (named.length > 1 && isTrusted(named.at(-1) ?? '')) named.pop()
  return named.at(-1) ?? 'unknown'
}
