import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { followAnnouncedHeads } from '../../src/chain/announcedHeads.js'
import { startHeadFollower } from '../../src/chain/headFollower.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { startAnvil } from '../support/chain/startAnvil.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A node's other side that a test speaks for. */
async function startSpeaker() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false })
  await once(server, 'listening')
  cleanups.push(() => {
    for (const each of server.clients) each.terminate()
    server.close()
  })
  const connected = async (): Promise<WebSocket> => {
    const [socket] = (await once(server, 'connection')) as [WebSocket]
    return socket
  }
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, connected }
}
const announcement = '{"jsonrpc":"2.0","method":"eth_subscription","params":{"result":{}}}'

test('a block of a real node is heard without polling', async () => {
  const anvil = await startAnvil()
  cleanups.push(anvil.stop)
  const node = createNodeClient({ urls: [anvil.url], logger: silent })
  cleanups.push(node.close)
  const definition = { chainId: 31337, pollInterval: 1_000_000_000 }
  const heads = await startHeadFollower({
    node,
    definition,
    logger: silent,
    headsUrl: anvil.url.replace('http', 'ws'),
  })
  cleanups.push(heads.stop)
  // Until the subscription stands, blocks are announced to nobody.
  await until(async () => {
    await anvil.request('anvil_mine', ['0x1'])
    return heads.current().number > 0n
  })
  const mined = await anvil.client.getBlockNumber({ cacheTime: 0 })
  await until(async () => heads.current().number === mined)
})

test('a connection that breaks is made anew; nonsense is no announcement', async () => {
  const { url, connected } = await startSpeaker()
  let heard = 0
  const first = connected()
  cleanups.push(followAnnouncedHeads({ url, logger: silent, onHead: () => heard++ }))
  const socket = await first
  const [subscription] = await once(socket, 'message')
  expect(JSON.parse(String(subscription))).toMatchObject({
    method: 'eth_subscribe',
    params: ['newHeads'],
  })
  for (const text of ['{', 'null', '[]', '{"jsonrpc":"2.0","id":1,"result":"0x1"}', announcement])
    socket.send(text)
  await until(async () => heard === 1)
  const second = connected()
  socket.terminate()
  ;(await second).send(announcement)
  await until(async () => heard === 2)
})

test('a connection on which nothing comes back any more is given up', async () => {
  const { url, connected } = await startSpeaker()
  const first = connected()
  cleanups.push(followAnnouncedHeads({ url, logger: silent, onHead: () => {}, heartbeat: 20 }))
  const second = await first.then(() => connected())
  expect(second.readyState).toBe(second.OPEN)
})
