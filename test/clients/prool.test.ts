import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Instance } from 'prool'
import { createPublicClient, http } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  toSimple7702SmartAccount,
} from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signAuthorization } from 'viem/actions'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../src/cli/devnet/startAnvil.js'
import { purser } from '../../src/prool.js'
import { silent } from '../support/logger.js'

let anvil: Anvil
let server: ChildProcess
let url = ''

beforeAll(async () => {
  anvil = await startAnvil({ chainId: foundry.id, logger: silent })
  const program = ['test/clients/proolServer.mjs', anvil.rpcUrl]
  server = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(server.stdout!.setEncoding('utf8'), 'data')) as [string]
  url = line.trim()
})

afterAll(async () => {
  server?.kill('SIGKILL')
  await anvil?.stop()
})

const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('purser-prool-'))

test('prool starts Purser for a pool, at a URL that is bundler and paymaster, and ends it', async () => {
  const client = createPublicClient({ chain: foundry, transport: http(anvil.rpcUrl) })
  const owner = privateKeyToAccount(generatePrivateKey())
  const account = await toSimple7702SmartAccount({ client, owner })
  const transport = http(`${url}/1`, { timeout: 120_000 })
  const bundler = createBundlerClient({
    client,
    transport,
    paymaster: createPaymasterClient({ transport }),
    pollingInterval: 100,
  })
  // The first request to a number of the pool starts that instance, which places the EntryPoints.
  expect(await bundler.getSupportedEntryPoints()).toHaveLength(4)
  const hash = await bundler.sendUserOperation({
    account,
    authorization: await signAuthorization(client, account.authorization),
    calls: [{ to: '0x00000000000000000000000000000000000a11ce', data: '0x1234' }],
  })
  expect((await bundler.waitForUserOperationReceipt({ hash })).success).toBe(true)
  expect(folders()).toHaveLength(1)

  server.stdin?.end()
  expect(await once(server, 'exit')).toEqual([0, null])
  expect(folders()).toEqual([])
})

test("is what prool's types ask for", () => {
  const define: Parameters<typeof Instance.define<undefined, { rpcUrl: string }>>[0] = purser
  expect(define({ rpcUrl: 'http://127.0.0.1:1' })).toMatchObject({ name: 'purser', port: 4337 })
})
