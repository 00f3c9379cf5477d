import type { Hex } from 'viem'
import { ConfigError } from '../../base/errors/configError.js'
import type { EndedOperation } from '../../records/endedOperations.js'

/** Records the steps of an operation's life cycle, each when it ends. Times are Unix milliseconds. */
export type OperationTraces = {
  /**
   * Does the work of a request. Steps recorded during it are linked to the span of the caller that the
   * header `traceparent` names; a header of another form counts as absent.
   */
  underCaller<Result>(traceparent: string | undefined, work: () => Result): Result
  /** A decision of this id sponsored the operation. */
  sponsored(step: TracedStep & { readonly decisionId: string }): void
  /** The operation was validated and stored. */
  admitted(step: TracedStep): void
  /** The operation was included or left the pool. Only the process that bundles for its chain records this. */
  ended(chainId: number, operation: EndedOperation): void
  /** Sends what waits, for at most some seconds. */
  close(): Promise<void>
}

export type TracedStep = {
  readonly chainId: number
  readonly userOpHash: Hex
  readonly appId: string
  readonly begin: number
}

/** What the standard variables of OpenTelemetry say about traces. */
export type TraceSettings = {
  /** The receiver of OTLP over HTTP, with its path. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  /** The share of operations that are traced, 0 to 1. All processes choose the same ones. */
  readonly share: number
}

const PATH = '/v1/traces'

/** @returns undefined where nothing shall be traced @throws ConfigError where a variable is wrong */
export function traceSettings(
  environment: Readonly<Record<string, string | undefined>>,
): TraceSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = environment
  const isOff =
    environment.OTEL_SDK_DISABLED === 'true' || environment.OTEL_TRACES_EXPORTER === 'none'
  if (isOff || !(base || own)) return undefined
  const url = own || `${base?.replace(/\/$/, '')}${PATH}`
  if (!/^https?:$/.test(protocolOf(url)))
    throw new ConfigError(`OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL, not "${url}".`)
  return {
    url,
    headers: headersOf(environment),
    serviceName: environment.OTEL_SERVICE_NAME || 'purser',
    share: shareOf(environment),
  }
}

function protocolOf(url: string): string {
  try {
    return new URL(url).protocol
  } catch {
    return ''
  }
}

/** `authorization=Bearer%20x,tenant=7`; values are percent-encoded, and secret: no message shows them. */
function headersOf({
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: own,
  OTEL_EXPORTER_OTLP_HEADERS: all,
}: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const pairs = (own ?? all ?? '').split(',').filter((pair) => pair.includes('='))
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=')
      const key = name.trim().toLowerCase()
      return [key, decoded(value.join('=').trim(), key)]
    }),
  )
}

function decoded(value: string, header: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    throw new ConfigError(
      `OTEL_EXPORTER_OTLP_HEADERS must be percent-encoded, and the value of "${header}" is not: write a percent sign as %25.`,
    )
  }
}

function shareOf({
  OTEL_TRACES_SAMPLER: sampler = 'always_on',
  OTEL_TRACES_SAMPLER_ARG: argument,
}: Readonly<Record<string, string | undefined>>): number {
  if (sampler.endsWith('always_off')) return 0
  if (!sampler.endsWith('traceidratio')) return 1
  const share = Number(argument ?? 1)
  if (share >= 0 && share <= 1) return share
  throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${argument}".`)
}
