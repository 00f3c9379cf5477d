import { AsyncLocalStorage } from 'node:async_hooks'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Hex } from 'viem'
import { traceIdOf } from '../../../base/traceId.js'
import { buildVersion, version } from '../../../base/version.js'
import type { EndedOperation } from '../../../records/endedOperations.js'
import type { OperationTraces, TracedStep, TraceSettings } from '../operationTraces.js'
import {
  encodeAttributes,
  encodeSpan,
  parseTraceParent,
  type Span,
  type TraceParent,
} from './span.js'

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
  const send = (span: Span): void => {
    if (isTraced(span.userOpHash, settings.share)) sender.add(encodeSpan(span))
  }
  const step = (name: 'sponsor' | 'admit', traced: TracedStep, more: Span['attributes']): void => {
    const { userOpHash, begin, chainId, appId } = traced
    const attributes = { 'purser.chain_id': chainId, 'purser.app_id': appId, ...more }
    const caller = callers.getStore()
    send({ userOpHash, name, begin, end: Date.now(), attributes, caller })
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
      for (const span of spansOf(chainId, operation)) send(span)
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

type EncodedSpan = ReturnType<typeof encodeSpan>

/** Milliseconds between two requests. */
const PAUSE = 1_000
/** Spans of one request; some 600 bytes each. */
const MOST_SENT = 512
/** Spans that wait while the receiver is away; later ones are lost, so memory stays bounded at some 4 MB. */
const MOST_WAITING = 4_096
/** Milliseconds that a receiver has to answer. */
const TIMEOUT = 5_000

/** Sends spans behind the work that they describe, which never waits for them. */
function createSpanSender(
  { url, headers }: Pick<TraceSettings, 'url' | 'headers'>,
  resource: ReturnType<typeof encodeAttributes>,
  logger: Logger,
) {
  const waiting: EncodedSpan[] = []
  let lost = 0
  let isAway = false
  let sending: Promise<void> = Promise.resolve()

  const post = async (spans: readonly EncodedSpan[]): Promise<void> => {
    const scopeSpans = [{ scope: { name: 'purser', version }, spans }]
    const body = JSON.stringify({
      resourceSpans: [{ resource: { attributes: resource }, scopeSpans }],
    })
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(TIMEOUT),
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
  }

  const sendWaiting = async (): Promise<void> => {
    const spans = waiting.splice(0, MOST_SENT)
    if (spans.length === 0) return
    try {
      await post(spans)
      if (isAway) logger.info({ lost }, 'the collector accepts traces again')
      else if (lost > 0) logger.warn({ lost }, 'traces are dropped: the collector is too slow')
      isAway = false
      lost = 0
    } catch (error) {
      lost += spans.length
      const { host } = new URL(url)
      const { message: reason } = error as Error
      if (!isAway)
        logger.warn({ host, reason }, 'traces are dropped: the collector does not accept them')
      isAway = true
    }
  }

  /** Sends full requests until there is none, so that the pause does not bound the operations of a second. */
  const sendFull = async (): Promise<void> => {
    do await sendWaiting()
    while (waiting.length >= MOST_SENT && !isAway)
  }

  const timer = setInterval(() => {
    sending = sending.then(sendFull)
  }, PAUSE)
  timer.unref()
  return {
    add(span: EncodedSpan): void {
      if (waiting.length < MOST_WAITING) waiting.push(span)
      else lost++
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await sending
      while (waiting.length > 0 && !isAway) await sendWaiting()
    },
  }
}
