import type { Logger } from 'pino'
import { version } from '../../base/version.js'
import type { TraceSettings } from '../traceSettings.js'
import type { encodeAttributes, encodeSpan } from './span.js'

type EncodedSpan = ReturnType<typeof encodeSpan>

export type SpanSender = {
  add(span: EncodedSpan): void
  close(): Promise<void>
}

/** Milliseconds between two requests. */
const PAUSE = 1_000
/** Spans of one request; some 600 bytes each. */
const MOST_SENT = 512
/** Spans that wait while the receiver is away; later ones are lost, so memory stays bounded at some 4 MB. */
const MOST_WAITING = 4_096
/** Milliseconds that a receiver has to answer. */
const TIMEOUT = 5_000

/** Sends spans behind the work that they tell of, which never waits for them. */
export function createSpanSender(
  { url, headers }: Pick<TraceSettings, 'url' | 'headers'>,
  resource: ReturnType<typeof encodeAttributes>,
  logger: Logger,
): SpanSender {
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
      if (isAway) logger.info({ lost }, 'traces are received again')
      else if (lost > 0)
        logger.warn({ lost }, 'traces are lost: more came than their receiver took')
      isAway = false
      lost = 0
    } catch (error) {
      lost += spans.length
      const { host } = new URL(url)
      const { message: reason } = error as Error
      if (!isAway)
        logger.warn({ host, reason }, 'traces are lost: their receiver does not take them')
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
    add(span) {
      if (waiting.length < MOST_WAITING) waiting.push(span)
      else lost++
    },
    async close() {
      clearInterval(timer)
      await sending
      while (waiting.length > 0 && !isAway) await sendWaiting()
    },
  }
}
