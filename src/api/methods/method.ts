import type { ErrorCode } from '../../errors/errorCodes.js'
import type { PurserError } from '../../errors/purserError.js'
import type { KeyScope } from '../../store/schema.js'
import type { DecodeContext } from '../dialects/decode/entryPoint.js'
import type { PerDialect } from '../dialects/dialect.js'
import type { ChainServices, Services } from '../services.js'

export type MethodContext = {
  readonly chain: ChainServices
  /** The app whose key is in the path. */
  readonly appId: string
  readonly keyId: string
  readonly clientVersion: string
  readonly sponsorOf: Services['sponsorOf']
  /** The OpenRPC documents. */
  readonly documents: PerDialect<Readonly<Record<string, unknown>>>
}

/**
 * The keys that may call a method: `common` is open to every key, since every client asks it first;
 * `debug` and `node` are for keys with scope `bundler`; `debug` exists only where the operator asked for it, `node`
 * (reads of the chain's node) unless the operator forbade it.
 */
export type MethodScope = KeyScope | 'common' | 'debug' | 'node'

/** One JSON-RPC method. The tables of the gate, the dialects and the documents are made from it. */
export type Method<Name extends string, Params, Result> = {
  readonly name: Name
  readonly summary: string
  readonly scope: MethodScope
  /** Units that a call takes from the buckets of its key and, with a sender, of its sender. */
  readonly cost: number
  /** Whether it runs an operation in an engine, which is bounded in number. */
  readonly simulates: boolean
  /** Names of the parameters by position; a `?` marks those that may be missing. */
  readonly params: readonly string[]
  /** The error codes it can answer beside `commonErrors`. */
  readonly errors: readonly ErrorCode[]
  /**
   * Parameters of every form that any client sends: both dialects decode alike. Throws
   * InvalidParamsError, UnsupportedEntryPointError.
   */
  readonly decode: (params: readonly unknown[], chain: DecodeContext) => Params
  /** The method itself. It knows no dialect. */
  readonly run: (params: Params, context: MethodContext) => Promise<Result>
  /** JSON of the result. Pure. */
  readonly encode: PerDialect<(result: Result) => unknown>
  /** The refusal that a result is, in methods whose callers get one without an error. */
  readonly refusal?: (result: Result) => PurserError | undefined
  readonly example: Example<Result, PerDialect<unknown>>
}

type Example<Result, Json> = {
  readonly params: readonly unknown[]
  /** A result of `run`. */
  readonly outcome: Result
  /** The JSON that is made of it. */
  readonly result: Json
}

/** One value for both dialects, or one for each. */
type BothOrEach<Value> = { readonly both: Value } | PerDialect<Value>

type MethodSpec<Name extends string, Params, Result> = Omit<
  Method<Name, Params, Result>,
  'encode' | 'example'
> & {
  readonly encode: BothOrEach<(result: Result) => unknown>
  readonly example: Example<NoInfer<Result>, BothOrEach<unknown>>
}

/** Types a method: `run` gets what its `decode` gives, `encode` what its `run` gives. */
export function method<const Name extends string, Params, Result>(
  spec: MethodSpec<Name, Params, Result>,
): Method<Name, Params, Result> {
  const { example } = spec
  return {
    ...spec,
    encode: perDialect(spec.encode),
    example: { ...example, result: perDialect(example.result) },
  }
}

function perDialect<Value>(value: BothOrEach<Value>): PerDialect<Value> {
  return 'both' in value ? { classic: value.both, standard: value.both } : value
}
