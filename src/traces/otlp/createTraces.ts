import { AsyncLocalStorage } from 'node:async_hooks'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Hex } from 'viem'
import { traceIdOf } from '../../base/traceId.js'
import { buildVersion } from '../../base/version.js'
import type { EndedOperation } from '../../store/records/endedOperations.js'
import type { OperationTraces, TracedStep } from '../operationTraces.js'
import { parseTraceParent, type TraceParent } from '../traceParent.js'
import type { TraceSettings } from '../traceSettings.js'
import { createSpanSender } from './createSpanSender.js'
import { encodeAttributes, encodeSpan, type Span } from './span.js'

/** OperationTraces that are sent as OTLP over HTTP, in JSON. */
export function createTraces(settings: TraceSettings, logger: Logger): OperationTraces {
  const resource = encodeAttributes({
    'service.name': settings.serviceName,
    'service.version': buildVersion,
    'service.instance.id': `${hostname()} ${process.pid}`,
    'process.pid': process.pid,
  })
  const sender = createSpanSender(settings, resource, logger)
  const callers = new AsyncLocalStorage<TraceParent>()
  const tell = (span: Span): void => {
    if (isTraced(span.userOpHash, settings.share)) sender.add(encodeSpan(span))
  }
  const step = (name: 'sponsor' | 'admit', told: TracedStep, more: Span['attributes']): void => {
    const { userOpHash, begin, chainId, appId } = told
    const attributes = { 'purser.chain_id': chainId, 'purser.app_id': appId, ...more }
    const caller = callers.getStore()
    tell({ userOpHash, name, begin, end: Date.now(), attributes, caller })
  }
  return {
    underCaller: (traceparent, work) => {
      const caller = parseTraceParent(traceparent)
      return caller === undefined ? work() : callers.run(caller, work)
    },
    sponsored: (sponsored) =>
      step('sponsor', sponsored, { 'purser.decision_id': sponsored.decisionId }),
    admitted: (admitted) => step('admit', admitted, {}),
    ended: (chainId, operation) => {
      for (const span of spansOf(chainId, operation)) tell(span)
    },
    close: sender.close,
  }
}

/** The same choice in every process: by the random half of the trace's id. */
function isTraced(userOpHash: Hex, share: number): boolean {
  const half = BigInt(`0x${traceIdOf(userOpHash).slice(16)}`)
  return half < BigInt(Math.round(share * 2 ** 53)) << 11n
}

/** The whole way of an operation that has ended, and the stages that it passed after its admission. */
function spansOf(chainId: number, operation: EndedOperation): Span[] {
  const { hash: userOpHash, outcome, code, receivedAt, bundledAt, sentAt, endedAt } = operation
  const [received, bundled, sent, ended] = [receivedAt, bundledAt, sentAt, endedAt].map(
    (time) => time?.getTime() ?? null,
  )
  const attributes = { 'purser.chain_id': chainId, 'purser.app_id': operation.appId }
  const failure = outcome === 'included' || outcome === 'replaced' ? undefined : (code ?? outcome)
  const stage = (name: Span['name'], begin: Time, end: Time, more: Span['attributes']): Span[] =>
    begin == null || end == null
      ? []
      : [{ userOpHash, name, begin, end, attributes: { ...attributes, ...more } }]
  const bundle = { 'purser.bundle_id': operation.bundleId }
  const place = {
    'purser.transaction': operation.transactionHash,
    'purser.block': operation.blockNumber,
  }
  const way: Span = {
    userOpHash,
    name: 'way',
    begin: received ?? 0,
    end: ended ?? 0,
    failure,
    attributes: {
      ...attributes,
      ...place,
      'purser.sender': operation.sender,
      'purser.outcome': outcome,
      'purser.decision_id': operation.decisionId,
      'purser.cost_wei': operation.cost,
    },
  }
  return [
    way,
    ...stage('pool', received, bundled ?? ended, {}),
    ...stage('bundle', bundled, sent, bundle),
    ...stage('inclusion', sent, ended, { ...bundle, ...place }),
  ]
}

type Time = number | null | undefined
