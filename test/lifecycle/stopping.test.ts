import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { processesOn } from '../support/service/processes.js'
import {
  makeDataFolder,
  removeDataFolder,
  spawnCli,
  startPurser,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

let folder = ''
beforeEach(() => {
  folder = makeDataFolder()
})
afterEach(() => removeDataFolder(folder))

/** A request whose body never ends: a shutdown waits for it a while. */
async function holdRequest(url: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(
    'POST /api/v2/1/key HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n',
  )
  // The answer to `expect` tells that the request is being served.
  await once(socket, 'data')
  return socket
}

async function refusesConnections(url: string): Promise<boolean> {
  return fetch(`${url}/health/live`).then(
    () => false,
    () => true,
  )
}

describe('stopping', () => {
  test('a second SIGTERM during the shutdown ends it at once; the next start takes over', async () => {
    const purser = await startPurser(folder)
    const socket = await holdRequest(purser.info.url)
    purser.process.kill('SIGTERM')
    await until(() => refusesConnections(purser.info.url))
    expect(purser.process.exitCode).toBeNull()
    expect((await purser.end('SIGTERM')).code).toBe(1)
    socket.destroy()

    const next = await startPurser(folder)
    expect(next.info.apiKey).toBe(purser.info.apiKey)
    const account = await devAccount(next.info, 'second signal')
    await receiptOf(next.info, await account.send(await account.sponsored()))
    expect((await next.end('SIGTERM')).code).toBe(0)
    expect(processesOn(folder)).toEqual([])
  })

  test('a signal during the start ends it cleanly too', async () => {
    const flags = ['--data', folder, '--port', '0', '--log-level', 'error']
    const child = spawnCli(['dev', ...flags])
    const closed = once(child, 'close')
    await until(async () => processesOn(folder).length > 1 || child.exitCode !== null)
    child.kill('SIGTERM')
    expect(await closed).toEqual([0, null])
    expect(processesOn(folder)).toEqual([])
  })
})
