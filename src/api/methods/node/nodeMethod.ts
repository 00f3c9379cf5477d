import type { ClientReads, ReadMethod } from '../../../chain/clientReads.js'
import type { ErrorCode } from '../../../errors/errorCodes.js'
import { MethodNotFoundError } from '../../../errors/requestErrors.js'
import type { ChainServices } from '../../services.js'
import { type Method, method } from '../method.js'

type NodeMethodSpec<Name extends ReadMethod> = {
  readonly name: Name
  readonly summary: string
  readonly cost: number
  readonly params: readonly string[]
  readonly errors: readonly ErrorCode[]
  /** Parameters as the node gets them: nothing that a client wrote goes on undecoded. */
  readonly decode: (params: readonly unknown[]) => readonly unknown[]
  readonly example: { readonly params: readonly unknown[]; readonly result: unknown }
}

/** What a read of the node gets: its parameters, decoded. */
export type Forwarded = { readonly forwarded: readonly unknown[] }

/** A read that the chain's node answers. Both dialects answer what the node does. */
export function nodeMethod<const Name extends ReadMethod>({
  decode,
  example: { params, result },
  ...spec
}: NodeMethodSpec<Name>): Method<Name, Forwarded, unknown> {
  return method({
    ...spec,
    scope: 'node',
    simulates: false,
    decode: (given): Forwarded => ({ forwarded: decode(given) }),
    run: ({ forwarded }, { chain, appId }) => readsOf(chain).read(appId, spec.name, forwarded),
    encode: { both: (answer: unknown) => answer },
    example: { params, outcome: result, result: { both: result } },
  })
}

/** Throws MethodNotFoundError where the operator forbids reads. */
export function readsOf({ reads }: Pick<ChainServices, 'reads'>): ClientReads {
  if (reads === undefined) throw new MethodNotFoundError('of the node')
  return reads
}
