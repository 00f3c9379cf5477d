import type { Hex } from 'viem'
import type { z } from 'zod'
import type { ErrorCode } from '../../base/errors/catalogue.js'
import type { PurserError } from '../../base/errors/purserError.js'
import type { Requester } from '../../base/requester.js'
import type { OperationProgress } from '../../bundler/operationNews.js'
import type { KeyScope } from '../../tenants/keyOwner.js'
import type { DecodeContext, Decoded, Input, Inputs } from '../dialects/decode/values.js'
import type { PerDialect } from '../dialects/dialect.js'
import type { ChainServices, Services } from '../services.js'

/** The subscriptions of one socket. */
export type SocketSubscriptions = {
  /** `begin` is called after the answer with the id was sent; it returns the function that ends what it began. */
  add(
    begin: (listener: {
      readonly report: (userOpHash: Hex, progress: OperationProgress) => void
      readonly header: (header: object) => void
      readonly end: () => void
    }) => () => void,
  ): Hex
  /** Whether there was one. */
  remove(id: string): boolean
}

export type MethodContext = {
  readonly chain: ChainServices
  /** The app whose key is in the path. */
  readonly appId: string
  readonly keyId: string
  /** The caller as a party that operations are run for; undefined in methods that do not simulate. */
  readonly requester: Requester | undefined
  readonly clientVersion: string
  readonly sponsorOf: Services['sponsorOf']
  /** The places of methods that both run an operation and wait for it. */
  readonly gate: {
    simulate<Result>(
      keyId: string,
      method: string,
      run: (requester: Requester) => Promise<Result>,
    ): Promise<Result>
    wait(keyId: string): () => void
  }
  /** Calls `hear` when the caller's connection closes, or has its answer; the function forgets it. */
  readonly onClose: (hear: () => void) => () => void
  /** Absent over HTTP. */
  readonly subscriptions?: SocketSubscriptions | undefined
  /** The OpenRPC documents. */
  readonly documents: PerDialect<Readonly<Record<string, unknown>>>
}

/**
 * The keys that may call a method: `common` is open to every key, since every client asks it first;
 * `debug` and `node` are for keys with scope `bundler`; `debug` exists only where the operator asked for it, `node`
 * (reads of the chain's node) unless the operator forbade it.
 */
export type MethodScope = KeyScope | 'common' | 'debug' | 'node'

/** The only declaration of a JSON-RPC method: dialects, gate and documents read it. */
export type MethodSpec<Name extends string, Given extends Inputs, Params, Result> = {
  readonly name: Name
  readonly summary: string
  readonly scope: MethodScope
  /** Units that a call takes from the buckets of its key and, with a sender, of its sender; absent = 1. */
  readonly cost?: number
  /** Whether it runs an operation in an engine, which is bounded in number; absent = no. */
  readonly simulates?: boolean
  /** Parameters by position, of every form that any client sends: both dialects decode alike. Absent = none. */
  readonly params?: Given
  /** The error codes that it can answer in addition to `commonErrors`. */
  readonly errors?: readonly ErrorCode[]
  /**
   * What depends on several parameters; absent = nothing does. Throws InvalidParamsError,
   * UnsupportedEntryPointError.
   */
  readonly decode?: (params: Decoded<Given>, chain: DecodeContext) => Params
  /** The method itself. It knows no dialect. */
  readonly run: (params: Params, context: MethodContext) => Promise<Result>
  /** The JSON of the result, in both dialects or in each. */
  readonly result: z.ZodType | PerDialect<z.ZodType>
  /** JSON of the result; absent = as `run` gives it. Pure. */
  readonly encode?: ((result: Result) => unknown) | PerDialect<(result: Result) => unknown>
  /** The refusal that a result is, in methods whose callers get one without an error. */
  readonly refusal?: (result: Result) => PurserError | undefined
  /** Parameters, and a result of `run`. */
  readonly example: { readonly params: readonly unknown[]; readonly outcome: NoInfer<Result> }
}

type Spec<Name extends string, Params, Result> = MethodSpec<Name, Inputs, Params, Result>

/** A method in full. */
export type Method<Name extends string, Params, Result> = Required<
  Omit<Spec<Name, Params, Result>, 'params' | 'decode' | 'result' | 'encode' | 'refusal'>
> & {
  readonly refusal: ((result: Result) => PurserError | undefined) | undefined
  /** Its parameters by position, with their places for errors. */
  readonly inputs: readonly (Input<unknown> & {
    readonly name: string
    readonly field: string
    readonly isOptional: boolean
  })[]
  readonly decode: (values: readonly unknown[], chain: DecodeContext) => Params
  readonly result: PerDialect<z.ZodType>
  readonly encode: PerDialect<(result: Result) => unknown>
}

/** Types a method: `run` gets what its `decode` gives, else its parameters by name; `encode` what its `run` gives. */
export function method<
  const Name extends string,
  Result,
  Given extends Inputs = Record<never, never>,
  Params = Decoded<Given>,
>(spec: MethodSpec<Name, Given, Params, Result>): Method<Name, Params, Result> {
  const { params = {}, decode: combine, result, encode = same, ...rest } = spec
  const inputs = Object.entries<Input<unknown>>(params).map(([name, input], index) => {
    return { ...input, name, field: `params[${index}]`, isOptional: input.json.isOptional() }
  })
  return {
    cost: 1,
    simulates: false,
    errors: [],
    refusal: undefined,
    ...rest,
    inputs,
    decode: (values: readonly unknown[], chain: DecodeContext): Params => {
      const decoded: Record<string, unknown> = {}
      let index = 0
      for (const { name, field, decode } of inputs)
        decoded[name] = decode(values[index++], field, chain)
      return combine === undefined ? (decoded as Params) : combine(decoded as Decoded<Given>, chain)
    },
    result: 'classic' in result ? result : { classic: result, standard: result },
    encode: 'classic' in encode ? encode : { classic: encode, standard: encode },
  }
}

function same(result: unknown): unknown {
  return result
}

/** Every method can answer them: they concern the request, the key, the chain or the service. */
export const commonErrors: readonly ErrorCode[] = [
  -32700, -32600, -32601, -32602, -32603, -32001, -32005,
]

/** The errors of an operation that is run to measure or check it, or for which a paymaster refuses to pay. */
export const simulationErrors: readonly ErrorCode[] = [-32500, -32501, -32503, -32507, -32521]

/** The errors of an operation that asks to be taken into the pool. */
export const admissionErrors: readonly ErrorCode[] = [
  ...simulationErrors,
  -32502,
  -32504,
  -32505,
  -32508,
  -32006,
  -32007,
]
