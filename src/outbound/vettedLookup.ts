import { lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { bareHost, type NetworkGuard } from './networkGuard.js'

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
