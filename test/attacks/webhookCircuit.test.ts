import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { rpc } from '../support/http/jsonRpc.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * The app asks its webhook before it sponsors, and passes while the webhook is out of order. The
 * attacker, whom the webhook would deny, sends data that it answers with 4xx until nobody asks it any more.
 */

const purser = useRunningPurser(['--webhook-allow', '127.0.0.1'])
let server: Server

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { user } = JSON.parse(text).data
    const answer = () => response.end(JSON.stringify({ arePoliciesVerified: user === 'alice' }))
    if (user === 'malformed') response.end('{')
    else if (typeof user === 'number') response.writeHead(user).end()
    else answer()
  }).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { info, dataFolder } = purser()
  const { port } = server.address() as AddressInfo
  const response = await fetch(`${info.webhookApiUrl}/api/v2/public/sdk/webhook`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authToken: info.authToken,
      apiKey: info.apiKey,
    },
    body: JSON.stringify({ webhookUrl: `http://127.0.0.1:${port}/`, requestType: 'POST' }),
  })
  const { data } = (await response.json()) as { data: { webhookId: string } }
  const commands = commandsOn(dataFolder)
  const apps = rowsOf(await commands.answer('app', 'list'))
  const app = ['--app', apps[0]?.id ?? '']
  const settings = ['--on-failure', 'approve', '--deadline', '5000']
  await commands.answer('webhook', 'set', data.webhookId, ...app, ...settings)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

let operations = 0

/** The code of the decision about a request with this user as webhookData. */
async function decisionFor(user: unknown): Promise<string> {
  const { info } = purser()
  const sender = await devAccount(info, `caller ${++operations}`)
  const draft = await sender.account.draft({ to: sender.account.address })
  const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
  const { body } = await rpc(info.paymasterUrl, 'pm_sponsorUserOperation', [
    toInterfaceOperation({ ...draft, ...fees }),
    { mode: 'SPONSORED', calculateGasLimits: true, sponsorshipInfo: { webhookData: { user } } },
  ])
  return body.result?.sponsorship.code ?? body.error?.message
}

test('an attacker whose data the webhook refuses does not switch it off', async () => {
  expect(await decisionFor('mallory')).toBe('WEBHOOK_DENIED')
  for (const user of [400, 401, 403, 404, 422, 429, 400]) {
    expect(await decisionFor(user)).toBe('WEBHOOK_DENIED')
  }
  for (let i = 0; i < 6; i++) expect(await decisionFor('malformed')).toBe('WEBHOOK_FAILED')
  expect(await decisionFor('mallory')).toBe('WEBHOOK_DENIED')
  expect(await decisionFor('alice')).toBe('SPONSORED')
})

test('a webhook that is out of order still passes, as the app wants it', async () => {
  expect(await decisionFor(503)).toBe('SPONSORED')
})

test('data beyond 16 kB is refused before anybody is asked', async () => {
  expect(await decisionFor('x'.repeat(16_384))).toMatch(/webhookData.*16384 are allowed/)
})
