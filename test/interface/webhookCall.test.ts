import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/devnet/simpleAccount.js'
import { describedResult as result } from '../support/http/describedRpc.js'
import type { Json } from '../support/http/jsonRpc.js'
import { webhookApi } from '../support/http/webhookApi.js'
import { type ReceivedCall, useWebhookServer } from '../support/http/webhookServer.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount, TARGET } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const purser = useRunningPurser()
function info() {
  return purser().info
}
const hook = useWebhookServer()

const webhookData = { user: 'älice "q"', limits: { day: 3 }, list: [1, 2], amount: 7 }

async function sponsor(seed: string, data: unknown = webhookData): Promise<Json> {
  const { account, withGas } = await devAccount(info(), seed)
  const fees = await result(info().bundlerUrl, 'biconomy_getGasFeeValues', [])
  const op = toInterfaceOperation(withGas(await account.draft({ to: TARGET }), fees))
  return result(info().paymasterUrl, 'pm_sponsorUserOperation', [
    op,
    { mode: 'SPONSORED', calculateGasLimits: true, sponsorshipInfo: { webhookData: data } },
  ])
}

async function withWebhook(
  requestType: 'GET' | 'POST',
  run: (webhookId: string, created: Json) => Promise<void>,
) {
  const { body } = await webhookApi(info(), 'POST', {
    body: { webhookUrl: hook.url(), requestType },
  })
  try {
    await run(body.data.webhookId, body.data)
  } finally {
    await webhookApi(info(), 'DELETE', { body: { webhookId: body.data.webhookId } })
  }
}

function isSponsored(answer: Json) {
  return answer.paymasterAndData !== '0x'
}

describe('Events: the webhook call', () => {
  test('Target, POST: JSON body holding one field, data, whose value is the webhookData', () =>
    withWebhook('POST', async () => {
      expect(isSponsored(await sponsor('post'))).toBe(true)
      expect(hook.calls).toHaveLength(1)
      const [call] = hook.calls
      expect(call?.method).toBe('POST')
      expect(call?.url).toBe('/approve')
      expect(call?.headers['content-type']).toBe('application/json')
      expect(call?.body).toBe(JSON.stringify({ data: webhookData }))
    }))

  test('Target, GET: carries the webhookData', () =>
    withWebhook('GET', async () => {
      expect(isSponsored(await sponsor('get'))).toBe(true)
      const [call] = hook.calls
      expect(call?.method).toBe('GET')
      expect(call?.body).toBe('')
      const query = new URL(call?.url ?? '', 'http://hook').searchParams
      expect(JSON.parse(query.get('data') ?? '')).toEqual(webhookData)
    }))

  test('Expected response, Meaning: true passes, false does not', () =>
    withWebhook('POST', async () => {
      expect(isSponsored(await sponsor('true'))).toBe(true)
      hook.answer = { status: 200, body: '{"arePoliciesVerified":false,"reason":"quota used"}' }
      const refused = await sponsor('false')
      expect(refused.paymasterAndData).toBe('0x')
      expect(refused.callGasLimit).toBeGreaterThan(0)
      expect(refused.sponsorship).toMatchObject({ sponsored: false })
      expect(refused.sponsorship.message).toContain('quota used')
    }))

  test.each([
    [200, '{"arePoliciesVerified":"true"}'],
    [200, '{}'],
    [200, 'yes'],
    [500, '{"arePoliciesVerified":true}'],
    [302, '{"arePoliciesVerified":true}'],
    [200, `{"arePoliciesVerified":true,"x":"${'y'.repeat(20_000)}"}`],
  ])('Expected response: anything else does not pass (%#)', (status, body) =>
    withWebhook('POST', async () => {
      hook.answer = { status, body }
      const refused = await sponsor('anything else')
      expect(refused.paymasterAndData).toBe('0x')
      expect(hook.calls).toHaveLength(1)
    }),
  )

  test('no webhookData: no call', () =>
    withWebhook('POST', async () => {
      const { account } = await devAccount(info(), 'no data')
      const op = toInterfaceOperation(await account.draft({ to: TARGET }))
      const answer = await result(info().paymasterUrl, 'pm_sponsorUserOperation', [
        op,
        { mode: 'SPONSORED', calculateGasLimits: true },
      ])
      expect(isSponsored(answer)).toBe(true)
      expect(hook.calls).toHaveLength(0)
    }))
})

describe('Webhook states and transitions', () => {
  test('registered: asked at once; inactive: not asked; active: asked again; deleted: not asked', async () => {
    let deleted = ''
    await withWebhook('POST', async (webhookId) => {
      deleted = webhookId
      await sponsor('registered')
      expect(hook.calls).toHaveLength(1)
      await webhookApi(info(), 'PATCH', { body: { webhookId, active: false } })
      expect(isSponsored(await sponsor('inactive'))).toBe(true)
      expect(hook.calls).toHaveLength(1)
      await webhookApi(info(), 'PATCH', { body: { webhookId, active: true } })
      await sponsor('active')
      expect(hook.calls).toHaveLength(2)
    })
    await sponsor('deleted')
    expect(hook.calls).toHaveLength(2)
    expect(deleted).not.toBe('')
  })
})

describe('signed requests', () => {
  const secretOf = async (webhookId: string): Promise<string> => {
    const { answer } = commandsOn(purser().dataFolder)
    const app = rowsOf(await answer('app', 'list')).find(({ name }) => name === 'development')?.id
    const webhooks = rowsOf(await answer('webhook', 'list', '--app', app ?? ''))
    expect(webhooks.map((row) => row.webhookId)).toEqual([webhookId])
    return (await answer('webhook', 'secret', webhookId, '--app', app ?? '')).trim()
  }

  /** Verifies as a customer does, with the official library. */
  const verify = (secret: string, content: string, { headers }: ReceivedCall) =>
    new Webhook(secret).verify(content, headers as Record<string, string>, { jsonParse: false })

  test('POST: verified by standardwebhooks with the secret that the command shows', () =>
    withWebhook('POST', async (webhookId, created) => {
      await sponsor('signed')
      const call = hook.calls[0]!
      const secret = await secretOf(webhookId)
      expect(() => verify(secret, call.body, call)).not.toThrow()
      expect(() => verify(secret, `${call.body} `, call)).toThrow('No matching signature')
      const other = `whsec_${Buffer.alloc(32).toString('base64')}`
      expect(() => verify(other, call.body, call)).toThrow('No matching signature')
      expect(Object.keys(created).sort()).toEqual(['requestType', 'webhookId', 'webhookUrl'])
      expect(JSON.stringify(created)).not.toContain(secret)
    }))

  test('GET: the signature is over all that stands behind the question mark', () =>
    withWebhook('GET', async (webhookId) => {
      await sponsor('signed get')
      const call = hook.calls[0]!
      const secret = await secretOf(webhookId)
      const query = call.url.slice(call.url.indexOf('?') + 1)
      expect(() => verify(secret, query, call)).not.toThrow()
      expect(() => verify(secret, '', call)).toThrow('No matching signature')
    }))
})
