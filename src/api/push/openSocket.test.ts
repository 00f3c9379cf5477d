import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { rpcPath, useApi } from '../../../test/support/http/useApi.js'
import type { ChainServices } from '../services.js'

const { memory, url } = useApi()

async function connect(): Promise<WebSocket> {
  const socket = new WebSocket(url().replace(/^http/, 'ws') + rpcPath('v3'))
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  return socket
}

test('a socket whose subscriptions nobody reports to since a reload is closed, so that its client subscribes again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { services, chain } = memory()
  const [subscribed, idle] = [await connect(), await connect()]
  const params = ['newHeads']
  subscribed.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }))
  await once(subscribed, 'message')
  const chains = services.chains as Map<number, ChainServices>
  chains.set(chain.chainId, { ...chain })
  const ended = once(subscribed, 'close')
  vi.advanceTimersByTime(30_000)
  const [code, reason] = await ended
  expect({ code, reason: String(reason) }).toEqual({
    code: 1001,
    reason: 'the chain was reloaded: subscribe again',
  })
  expect(idle.readyState).toBe(WebSocket.OPEN)
})
