import ipaddr from 'ipaddr.js'
import { KeyRestrictedError } from '../../base/errors/limitErrors.js'
import type { KeyRestrictions, KeyScope } from '../../tenants/keyOwner.js'
import type { MethodScope } from '../methods/method.js'
import { type MethodName, methods as methodTable } from '../methods/methodList.js'

/**
 * Whether the key may be used from there. A key with origins needs a request with the header
 * Origin, which browsers send and cannot forge; other programs can, so it guards users, not money.
 */
export function requirePlace(
  { allowedOrigins, allowedIps }: KeyRestrictions,
  { ip, origin }: { readonly ip: string; readonly origin: string | undefined },
): void {
  if (allowedIps !== null && !allowedIps.some((range) => contains(range, ip)))
    throw new KeyRestrictedError('may not be used from this address.', 'ip')
  if (allowedOrigins !== null && !allowedOrigins.includes(origin ?? ''))
    throw new KeyRestrictedError('may not be used from this origin.', 'origin')
}

/** The scope that a key needs for methods of a scope. */
const neededScope: Readonly<Record<Exclude<MethodScope, 'common'>, KeyScope>> = {
  bundler: 'bundler',
  paymaster: 'paymaster',
  debug: 'bundler',
  node: 'bundler',
}

/** Throws KeyRestrictedError where the key may not call the method. */
export function requireMethod(
  { scopes, methods }: Pick<KeyRestrictions, 'scopes' | 'methods'>,
  method: MethodName,
): void {
  const { scope } = methodTable[method]
  if (scope === 'common') return
  if (!scopes.includes(neededScope[scope]) || (methods !== null && !methods.includes(method)))
    throw new KeyRestrictedError(`may not call ${method}.`, 'method')
}

/** `range` is an address or a CIDR block; an IPv4 address mapped into IPv6 counts as IPv4. */
export function contains(range: string, ip: string): boolean {
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  if (!range.includes('/')) {
    return ipaddr.isValid(range) && ipaddr.process(range).toString() === address.toString()
  }
  if (!ipaddr.isValidCIDR(range)) return false
  const [network, bits] = ipaddr.parseCIDR(range)
  return network.kind() === address.kind() && address.match(network, bits)
}

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
