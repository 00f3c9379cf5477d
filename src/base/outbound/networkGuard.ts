import { lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The guard that decides which addresses may be called besides the public internet. Webhooks that
 * an app registers are addresses chosen by a stranger, so private networks are closed unless the
 * operator opens them.
 */
export type NetworkGuard = {
  /** The sentence that says why `url` must not be called; undefined when it may be. */
  refuseUrl(url: URL): string | undefined
  /**
   * The sentence that says why the address `ip`, an answer of the DNS for `host`, is closed;
   * undefined when it is open. It does not name the address, because a stranger must not learn the
   * private network.
   */
  refuseAddress(ip: string, host: string): string | undefined
}

/** The entries that a development setup opens: its own machine. */
export const loopback: readonly string[] = ['127.0.0.0/8', '::1/128', 'localhost']

/**
 * Makes a guard. `allow` lists host names and CIDR blocks, which may be private, use http and any
 * port. Throws TypeError on an entry that is neither.
 */
export function createNetworkGuard(allow: readonly string[]): NetworkGuard {
  const blocks = allow.filter((entry) => entry.includes('/')).map(parseBlock)
  const hosts = new Set(allow.filter((entry) => !entry.includes('/')).map(parseHost))

  const isAllowed = (ip: string): boolean => {
    const address = ipaddr.process(ip)
    return blocks.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    )
  }

  const refuseAddress = (ip: string, host: string): string | undefined => {
    if (hosts.has(bareHost(host)) || isAllowed(ip) || isPublic(ip)) return undefined
    return `${host} is not on the public internet. The operator can open it in the webhook allow list.`
  }

  const refuseUrl = (url: URL): string | undefined => {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'the URL must be https.'
    if (url.username !== '' || url.password !== '') {
      return 'the URL must not hold a user name or password.'
    }
    const host = bareHost(url.hostname)
    const isLiteral = ipaddr.isValid(host)
    if (hosts.has(host) || (isLiteral && isAllowed(host))) return undefined
    if (url.protocol === 'http:') {
      return 'the URL must be https. The operator can allow http for a host in the webhook allow list.'
    }
    if (!isWebPort(url.port)) {
      return `port ${url.port} is closed. Use 443, 80 or a port from 1024, or the webhook allow list.`
    }
    return isLiteral ? refuseAddress(host, host) : undefined
  }

  return { refuseUrl, refuseAddress }
}

/** The host in the form of DNS and address parsers: no brackets around IPv6, no final dot. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

/**
 * Whether an address is public. IPv6 outside 2000::/3 is not, even where a list of ranges lacks it.
 */
function isPublic(ip: string): boolean {
  const address = ipaddr.process(ip)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(ipaddr.parseCIDR('2000::/3'))
}

/**
 * Whether a port is for the web. Other ports below 1024 belong to mail, shells and the like, which
 * must not get our requests.
 */
function isWebPort(port: string): boolean {
  return port === '' || port === '80' || port === '443' || Number(port) >= 1024
}

function parseBlock(entry: string): ReturnType<typeof ipaddr.parseCIDR> {
  if (!ipaddr.isValidCIDR(entry)) throw new TypeError(`${entry} is not a CIDR block.`)
  return ipaddr.parseCIDR(entry)
}

/** The host in the normal form that URL gives to hosts. */
function parseHost(entry: string): string {
  const host = ipaddr.IPv6.isValid(entry) ? `[${entry}]` : entry
  const isPlain = host !== entry || !/[:/?#@\s]/.test(entry)
  if (!isPlain || !URL.canParse(`http://${host}`)) {
    throw new TypeError(`${entry} is neither a host name nor a CIDR block.`)
  }
  return bareHost(new URL(`http://${host}`).hostname)
}

/** A function that finds every address of a host. */
export type Resolve = (
  host: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>

export const resolveBySystem: Resolve = (host) => systemLookup(host, { all: true, verbatim: true })

/** A host has no address, or cannot be resolved. */
export class NameError extends Error {
  override readonly name = 'NameError'
}

/** A host resolves to an address that the guard closes. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError'
}

/**
 * The lookup of sockets. One closed address among the answers refuses the host. The socket connects
 * to the checked answers only, so a name that changes between check and use gains nothing.
 */
export function createVettedLookup(guard: NetworkGuard, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    const answer = async (): Promise<() => void> => {
      const addresses = await resolve(hostname)
      for (const { address } of addresses) {
        const refusal = guard.refuseAddress(address, bareHost(hostname))
        if (refusal !== undefined) throw new BlockedAddressError(refusal)
      }
      const [first] = addresses
      if (first === undefined) throw new NameError(`${hostname} has no address.`)
      return options.all
        ? () => callback(null, [...addresses])
        : () => callback(null, first.address, first.family)
    }
    answer().then(
      (succeed) => succeed(),
      (error: unknown) => {
        const known = error instanceof BlockedAddressError || error instanceof NameError
        callback(known ? error : new NameError(`${hostname} cannot be resolved.`), '')
      },
    )
  }
}
