import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { describedResult as result } from '../support/http/describedRpc.js'
import type { Json } from '../support/http/jsonRpc.js'
import { webhookApi } from '../support/http/webhookApi.js'
import { type ReceivedCall, useWebhookServer } from '../support/http/webhookServer.js'
import { commandsOn, labelled, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount, TARGET } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const purser = useRunningPurser(['--native-prices', '{"31337":"3000.50"}'])
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

describe('a policy that asks the webhooks in any case', () => {
  const admin = async (method: string, path: string, body?: Json): Promise<Json> => {
    const { url, authToken } = info()
    const response = await fetch(`${url}/admin/v1${path}`, {
      method,
      headers: { authToken },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Json
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }

  /** Runs with the policy, and a webhook that is asked about the whole operation. */
  const withPolicy = async (
    run: (ids: { appId: string; policyId: string; webhookId: string }) => Promise<void>,
  ) => {
    const { items } = await admin('GET', '/apps')
    const { id: appId } = items.find(({ name }: Json) => name === 'development')
    const terms = { webhookMode: 'always' }
    const { policyId } = await admin('POST', '/policies', { appId, name: 'asks', terms })
    const settings = { webhookUrl: hook.url(), requestType: 'POST', payload: 'extended' }
    const { webhook } = await admin('POST', `/apps/${appId}/webhooks`, settings)
    try {
      await run({ appId, policyId, webhookId: webhook.webhookId })
    } finally {
      await admin('DELETE', `/apps/${appId}/webhooks/${webhook.webhookId}`)
      await admin('DELETE', `/policies/${policyId}`)
    }
  }

  const draftOf = async (seed: string): Promise<Json> => {
    const { account, withGas } = await devAccount(info(), seed)
    const fees = await result(info().bundlerUrl, 'biconomy_getGasFeeValues', [])
    return toInterfaceOperation(
      withGas(await account.draft({ to: TARGET, data: '0x12345678' }), fees),
    )
  }
  const mode = { mode: 'SPONSORED', calculateGasLimits: true, sponsorshipInfo: {} }
  const ask = async (op: Json, how: object = mode): Promise<Json> =>
    (await result(info().paymasterUrl, 'pm_sponsorUserOperation', [op, how])).sponsorship

  test('without webhookData, with the operation, its policy and its cost', () =>
    withPolicy(async ({ policyId }) => {
      const op = await draftOf('extended')
      expect((await ask(op)).code).toBe('SPONSORED')
      const { type, timestamp, data, context } = JSON.parse(hook.calls[0]?.body ?? '')
      expect({ type, data }).toEqual({ type: 'sponsorship.requested', data: {} })
      expect(timestamp).toBeGreaterThan(1_700_000_000)
      expect(context).toMatchObject({
        chainId: info().chainId,
        entryPoint: info().entryPoints['0.6']?.toLowerCase(),
        sender: op.sender.toLowerCase(),
        calls: [{ to: TARGET, value: '0', selector: '0x12345678' }],
        policyId,
        userOperation: { callData: op.callData },
      })

      const priced = {
        ...(await draftOf('cost')),
        callGasLimit: 50_000,
        verificationGasLimit: 500_000,
        preVerificationGas: 60_000,
        maxFeePerGas: '2000000000',
        maxPriorityFeePerGas: '1000000000',
      }
      await ask(priced, { ...mode, calculateGasLimits: false })
      const cost = JSON.parse(hook.calls.at(-1)?.body ?? '').context
      expect(BigInt(cost.maxCostWei) % 2_000_000_000n).toBe(0n)
      const microUsd = (BigInt(cost.maxCostWei) * 3_000_500_000n + 10n ** 18n - 1n) / 10n ** 18n
      expect(cost.maxCostUsd.replace('.', '').replace(/^0+/, '')).toBe(microUsd.toString())

      hook.answer = { status: 200, body: '{"arePoliciesVerified":false}' }
      expect((await ask(await draftOf('denied'))).code).toBe('WEBHOOK_DENIED')
    }))

  test('one that fails: approve lets pass, and the record says circuit_open', () =>
    withPolicy(async ({ appId, webhookId }) => {
      const { answer } = commandsOn(purser().dataFolder)
      const app = ['--app', appId]
      hook.answer = { status: 500, body: '' }
      expect((await ask(await draftOf('failing'))).code).toBe('WEBHOOK_FAILED')
      await answer('webhook', 'set', webhookId, ...app, '--on-failure', 'approve')
      const names = Array.from({ length: 5 }, (_, at) => `failing ${at}`)
      const [open, ...failing] = await Promise.all(['open', ...names].map((name) => draftOf(name)))
      // The circuit stays open for 10 s: nothing slow stands between the last failure and the next call.
      for (const draft of failing) expect((await ask(draft)).code).toBe('SPONSORED')
      const called = hook.calls.length
      const sponsorship = await ask(open!)
      expect(sponsorship).toMatchObject({ sponsored: true, code: 'SPONSORED' })
      expect(hook.calls).toHaveLength(called)
      const shown = await answer('decision', 'show', sponsorship.decisionId)
      expect(labelled(shown, 'code')).toBe('SPONSORED')
      expect(shown).toContain('circuit_open')
      const list = await answer('decision', 'list', ...app)
      expect(rowsOf(list)[0]).toMatchObject({ id: sponsorship.decisionId, code: 'SPONSORED' })
      const failed = await answer('decision', 'list', ...app, '--code', 'WEBHOOK_FAILED')
      expect(rowsOf(failed).length).toBeGreaterThanOrEqual(1)
    }))

  test('both dialects name what it would decide', () =>
    withPolicy(async () => {
      const asked = [
        await draftOf('both dialects'),
        info().entryPoints['0.6'],
        `0x${info().chainId.toString(16)}`,
      ]
      const method = 'pm_validateSponsorshipPolicies'
      const answers = [
        await result(info().paymasterUrl, method, [...asked, mode]),
        await result(info().standardUrl, method, [...asked, {}]),
      ]
      for (const decided of answers)
        expect(decided).toMatchObject({
          sponsored: true,
          code: 'SPONSORED',
          policies: [{ name: 'asks', scope: 'app', pays: true, code: 'PAYS' }],
        })
    }))
})
