import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { OwnService } from './ownService.js'
import { usageOf } from './processUsage.js'

/** Sockets that are opened at once. */
const TOGETHER = 100
/** Milliseconds in which a service has collected what opening left behind. */
const REST = 10_000

/** Bytes that the service holds for `count` WebSockets, each with a subscription to an operation of its own. */
export async function measureWaits(
  { url, secondUrl, pids }: Pick<OwnService, 'url' | 'secondUrl' | 'pids'>,
  count: number,
): Promise<number> {
  const held = (): number => usageOf(pids.service).residentBytes
  const before = held()
  const sockets: WebSocket[] = []
  try {
    while (sockets.length < count) {
      const size = Math.min(TOGETHER, count - sockets.length)
      // A socket and its subscription are a wait each, and a key has 10,000.
      const of = sockets.length < count / 2 ? url : secondUrl
      const opened = Array.from({ length: size }, (_, i) => subscribe(of, sockets.length + i))
      sockets.push(...(await Promise.all(opened)))
    }
    await delay(REST)
    const open = sockets.filter(({ readyState }) => readyState === WebSocket.OPEN).length
    if (open < count) throw new Error(`only ${open} of ${count} sockets are open`)
    return held() - before
  } finally {
    for (const socket of sockets) socket.terminate()
  }
}

async function subscribe(url: string, index: number): Promise<WebSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'))
  await once(socket, 'open')
  const userOpHash = `0x${index.toString(16).padStart(64, '0')}`
  const params = ['userOperation', { userOpHash }]
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }))
  const [answer] = await once(socket, 'message')
  if (!('result' in JSON.parse(String(answer)))) throw new Error(`not subscribed: ${answer}`)
  return socket
}
