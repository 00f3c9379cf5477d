import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import { awake, restAfter } from '../../base/restAfter.js'

type Options = {
  /** ws:// or wss:// */
  readonly url: string
  /** A block came; which one is to be asked of the nodes. */
  readonly onHead: () => void
  readonly logger: Logger
  /** Milliseconds between looks whether the other side is still there. */
  readonly heartbeat?: number
}

const MAX_MESSAGE_BYTES = 1024 * 1024

/**
 * Subscribes to `newHeads`. What it says is only a hint to look, never believed: so it may be late,
 * wrong or silent without harm. A connection that breaks is made anew after growing pauses. Returns
 * how to stop.
 */
export function followAnnouncedHeads(options: Options): () => void {
  const { url, onHead, logger, heartbeat = 30_000 } = options
  let rest = awake
  let stopped = false
  let socket: WebSocket
  let retry: NodeJS.Timeout | undefined

  function connect(): void {
    let alive = true
    let reason = 'closed'
    const own = new WebSocket(url, { handshakeTimeout: 10_000, maxPayload: MAX_MESSAGE_BYTES })
    socket = own
    const pulse = setInterval(() => {
      if (!alive) own.terminate()
      alive = false
      if (own.readyState === WebSocket.OPEN) own.ping()
    }, heartbeat)
    own.on('open', () => {
      own.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
    })
    own.on('pong', () => {
      alive = true
    })
    own.on('message', (data) => {
      alive = true
      if (!isAnnouncement(String(data))) return
      rest = awake
      onHead()
    })
    own.on('error', (error) => {
      reason = error.message
    })
    own.on('close', () => {
      clearInterval(pulse)
      if (stopped) return
      const now = Date.now()
      rest = restAfter(rest, now, Math.random())
      logger.warn({ endpoint: new URL(url).host, reason }, 'no new heads are announced')
      retry = setTimeout(connect, rest.until - now)
    })
  }
  connect()

  return () => {
    stopped = true
    clearTimeout(retry)
    socket.terminate()
  }
}

function isAnnouncement(text: string): boolean {
  try {
    return (JSON.parse(text) as { method?: unknown } | null)?.method === 'eth_subscription'
  } catch {
    return false
  }
}
