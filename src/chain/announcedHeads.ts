import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import { pauseAfter, unpaused } from '../base/pauseAfter.js'

type Options = {
  /** ws:// or wss:// */
  readonly url: string
  /** Called when a block was announced; its header is to be read from the nodes. */
  readonly onHead: () => void
  readonly logger: Logger
  /** Milliseconds between two tests whether the connection still lives. */
  readonly heartbeat?: number
}

const MAX_MESSAGE_BYTES = 1024 * 1024

/**
 * Subscribes to `newHeads`. An announcement is only a hint to ask the nodes, never believed: so it may
 * be late, wrong or missing without harm. A broken connection is opened again after growing pauses.
 * Returns a function that stops it.
 */
export function followAnnouncedHeads(options: Options): () => void {
  const { url, onHead, logger, heartbeat = 30_000 } = options
  let pause = unpaused
  let stopped = false
  let socket: WebSocket
  let retry: NodeJS.Timeout | undefined

  function connect(): void {
    let alive = true
    let reason = 'closed'
    const current = new WebSocket(url, { handshakeTimeout: 10_000, maxPayload: MAX_MESSAGE_BYTES })
    socket = current
    const pulse = setInterval(() => {
      if (!alive) current.terminate()
      alive = false
      if (current.readyState === WebSocket.OPEN) current.ping()
    }, heartbeat)
    current.on('open', () => {
      current.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
    })
    current.on('pong', () => {
      alive = true
    })
    current.on('message', (data) => {
      alive = true
      if (!isAnnouncement(String(data))) return
      pause = unpaused
      onHead()
    })
    current.on('error', (error) => {
      reason = error.message
    })
    current.on('close', () => {
      clearInterval(pulse)
      if (stopped) return
      const now = performance.now()
      pause = pauseAfter(pause, now, Math.random())
      logger.warn({ endpoint: new URL(url).host, reason }, 'new heads are not pushed by the node')
      retry = setTimeout(connect, pause.until - now)
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
