import { randomUUID } from 'node:crypto'
import { parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/devnet/simpleAccount.js'
import { describedResult as result } from '../support/http/describedRpc.js'
import { expectDocumentedAnswer } from '../support/http/documentedInterface.js'
import type { Json } from '../support/http/jsonRpc.js'
import { useWebhookServer } from '../support/http/webhookServer.js'
import { commandsOn, labelled, rowsOf } from '../support/service/cliAnswers.js'
import { createTenant } from '../support/service/createTenant.js'
import { devAccount, TARGET } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const purser = useRunningPurser(['--native-prices', '{"31337":"3000.50"}'])
function info() {
  return purser().info
}
const hook = useWebhookServer()
function own() {
  return { authToken: info().authToken, apiKey: info().apiKey }
}

async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = own(),
): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${info().url}/api/v2/public/sdk/${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answer = { status: response.status, body: await response.json() }
  expectDocumentedAnswer(method, `/${path}`, answer)
  return answer
}

function ok(message: string, data?: unknown) {
  return {
    status: 200,
    body: { statusCode: 200, message, ...(data !== undefined && { data }) },
  }
}
function refused(statusCode: number, message: string) {
  return {
    status: statusCode,
    body: { statusCode, message },
  }
}

const setQuote = '0x12345678'
async function draftOf(seed: string, data: `0x${string}` = setQuote): Promise<Json> {
  const { account, withGas } = await devAccount(info(), seed)
  const fees = await result(info().bundlerUrl, 'biconomy_getGasFeeValues', [])
  return toInterfaceOperation(withGas(await account.draft({ to: TARGET, data }), fees))
}

async function sponsor(seed: string, context: object = {}): Promise<Json> {
  return result(info().paymasterUrl, 'pm_sponsorUserOperation', [
    await draftOf(seed),
    { mode: 'SPONSORED', calculateGasLimits: true, sponsorshipInfo: {}, ...context },
  ])
}
async function codeOf(seed: string) {
  return (await sponsor(seed)).sponsorship.code
}

async function createRule(policyType: string, policyData: object): Promise<string> {
  const { body } = await send('POST', 'paymaster-policy', { name: 'rule', policyType, policyData })
  expect(body).toMatchObject({ message: 'Paymaster Policy created successfully' })
  return body.data._id
}
function setActive(verb: 'activate' | 'deactivate', id: string, headers = own()) {
  return send('PATCH', `paymaster-policy/${verb}/${id}`, undefined, headers)
}

const abi = JSON.stringify(parseAbi(['function setQuote(string)', 'function other(uint256)']))
const unknownSelector = setQuote
const limit = {
  type: 'SMART_ACCOUNT',
  cycleDuration: { value: 3, unit: 'hour' },
  threshold: 1,
  thresholdType: 'COUNT',
}

test('a contract decides which calls are sponsored, until it is deleted', async () => {
  const contract = { name: 'Quote', address: TARGET, abi, whitelistedMethods: ['other'] }
  expect(await send('POST', 'smart-contract', contract)).toEqual(
    ok('Smart contract registered successfully'),
  )
  expect(await send('POST', 'smart-contract', contract)).toEqual(
    refused(400, 'Smart contract address already exists'),
  )
  expect((await sponsor('contract')).sponsorship.message).toContain(unknownSelector)
  const stored = { name: 'Quote', address: TARGET, abi }
  const none = { ...stored, whitelistedMethods: [], methods: [] }
  expect(
    await send('PATCH', 'smart-contract', { address: TARGET, whitelistedMethods: [] }),
  ).toEqual(ok('Smart contract updated', none))
  expect(await codeOf('contract')).toBe('POLICY_INACTIVE')
  expect(await send('GET', 'smart-contract')).toEqual(ok('Smart contract list fetched', [none]))
  expect(await send('DELETE', 'smart-contract', { address: TARGET })).toEqual(
    ok('Smart contract deleted'),
  )
  expect(await send('DELETE', 'smart-contract', { address: TARGET })).toEqual(
    refused(404, 'Smart contract not found'),
  )
  expect(await codeOf('contract')).toBe('SPONSORED')
})

test('a limit holds per account, and is changed, paused and resumed', async () => {
  const id = await createRule('PAYMASTER_SA_LIMIT', limit)
  const [listed] = (await send('GET', 'paymaster-policy')).body.data
  expect(listed).toMatchObject({
    _id: id,
    name: 'rule',
    policyType: 'PAYMASTER_SA_LIMIT',
    active: true,
    policyData: { ...limit, durationInMs: 10_800_000 },
  })
  expect(await codeOf('limited')).toBe('SPONSORED')
  const { account } = await devAccount(info(), 'limited')
  const next = { ...(await draftOf('limited')), nonce: '0x10000000000000000' }
  const again = () =>
    result(info().paymasterUrl, 'pm_validateSponsorshipPolicies', [
      next,
      info().entryPoints['0.6'],
      `0x${info().chainId.toString(16)}`,
      { mode: 'SPONSORED', calculateGasLimits: true, sponsorshipInfo: {} },
    ])
  expect(next.sender.toLowerCase()).toBe(account.address.toLowerCase())
  expect((await again()).code).toBe('BUDGET_EXCEEDED')
  expect(await send('PATCH', `paymaster-policy/limit/${id}`, { threshold: 2 })).toEqual(
    ok('Paymaster Limit updated'),
  )
  expect((await again()).code).toBe('SPONSORED')
  await send('PATCH', `paymaster-policy/limit/${id}`, { threshold: 1 })
  expect(await setActive('deactivate', id)).toEqual(ok('Paymaster Policy Deactivated!'))
  expect((await again()).code).toBe('SPONSORED')
  expect(await setActive('activate', id)).toEqual(ok('Paymaster Policy Activated!'))
  expect((await again()).code).toBe('BUDGET_EXCEEDED')
  await setActive('deactivate', id)
})

test('a webhook rule is asked with the whole operation, also without webhookData', async () => {
  const id = await createRule('WEBHOOK', { url: hook.url() })
  const approved = await sponsor('extended', { calculateGasLimits: true })
  expect(approved.sponsorship.code).toBe('SPONSORED')
  const { type, timestamp, data, context } = JSON.parse(hook.calls[0]?.body ?? '')
  expect({ type, data }).toEqual({ type: 'sponsorship.requested', data: {} })
  expect(timestamp).toBeGreaterThan(1_700_000_000)
  const op = await draftOf('extended')
  expect(context).toMatchObject({
    chainId: info().chainId,
    entryPoint: info().entryPoints['0.6']?.toLowerCase(),
    sender: op.sender.toLowerCase(),
    calls: [{ to: TARGET, value: '0', selector: setQuote }],
    userOperation: { callData: op.callData },
  })
  const { body } = await send('GET', 'paymaster-policy')
  const policies = await fetch(`${info().url}/admin/v1/policies`, { headers: own() })
  const { items } = (await policies.json()) as Json
  expect(context.policyId).toBe(items[0].policyId)
  expect(body.data.at(-1)).toMatchObject({ _id: id, policyData: { url: hook.url() } })

  const limits = { callGasLimit: 50_000, verificationGasLimit: 500_000, preVerificationGas: 60_000 }
  const cheap = { ...(await draftOf('cost')), ...limits, maxFeePerGas: '2000000000' }
  await result(info().paymasterUrl, 'pm_sponsorUserOperation', [
    { ...cheap, maxPriorityFeePerGas: '1000000000' },
    { mode: 'SPONSORED', calculateGasLimits: false, sponsorshipInfo: {} },
  ])
  const cost = JSON.parse(hook.calls.at(-1)?.body ?? '').context
  expect(BigInt(cost.maxCostWei) % 2_000_000_000n).toBe(0n)
  const microUsd = (BigInt(cost.maxCostWei) * 3_000_500_000n + 10n ** 18n - 1n) / 10n ** 18n
  expect(cost.maxCostUsd.replace('.', '').replace(/^0+/, '')).toBe(microUsd.toString())

  hook.answer = { status: 200, body: '{"arePoliciesVerified":false}' }
  expect(await codeOf('denied')).toBe('WEBHOOK_DENIED')
  await setActive('deactivate', id)
  expect(await codeOf('denied')).toBe('SPONSORED')
})

test('a webhook that fails: approve lets pass, and the record says circuit_open', async () => {
  const id = await createRule('WEBHOOK', { url: hook.url() })
  const { answer } = commandsOn(purser().dataFolder)
  const app = rowsOf(await answer('app', 'list')).find(({ name }) => name === 'development')?.id
  const { webhookId = '' } =
    rowsOf(await answer('webhook', 'list', '--app', app ?? '')).at(-1) ?? {}
  hook.answer = { status: 500, body: '' }
  for (let failure = 0; failure < 5; failure++)
    expect(await codeOf(`failing ${failure}`)).toBe('WEBHOOK_FAILED')
  await answer('webhook', 'set', webhookId, '--app', app ?? '', '--on-failure', 'approve')
  const called = hook.calls.length
  const { sponsorship } = await sponsor('open')
  expect(sponsorship).toMatchObject({ sponsored: true, code: 'SPONSORED' })
  expect(hook.calls).toHaveLength(called)
  const shown = await answer('decision', 'show', sponsorship.decisionId)
  expect(labelled(shown, 'code')).toBe('SPONSORED')
  expect(shown).toContain('circuit_open')
  const list = await answer('decision', 'list', '--app', app ?? '')
  expect(rowsOf(list)[0]).toMatchObject({ id: sponsorship.decisionId, code: 'SPONSORED' })
  const failed = await answer('decision', 'list', '--app', app ?? '', '--code', 'WEBHOOK_FAILED')
  expect(rowsOf(failed)).toHaveLength(5)
  await setActive('deactivate', id)
})

test('only deployments are sponsored by a wallet rule', async () => {
  const id = await createRule('WALLET_DEPLOYMENT', {})
  expect(await codeOf('deployment')).toBe('SPONSORED')
  await setActive('deactivate', id)
})

test('a paymaster is an app of its own with a key, on its chain', async () => {
  const { authToken } = own()
  const given = { name: randomUUID(), type: 'HYBRID', chainId: info().chainId, version: '2.0.0' }
  const { status, body } = await send('POST', 'paymaster', given, { authToken })
  const made = { name: given.name, chainId: given.chainId }
  expect({ status, body }).toEqual(
    ok('DApp registered successfully', { ...made, apiKey: expect.any(String) }),
  )
  expect(await send('POST', 'paymaster', given, { authToken })).toEqual(
    refused(400, 'paymaster_name_exists'),
  )
  expect(await send('POST', 'paymaster', { ...given, chainId: 5 }, { authToken })).toEqual(
    refused(400, 'Chain ID not supported'),
  )
  const { body: list } = await send('GET', 'paymaster', undefined, { authToken })
  expect(list.data).toContainEqual({ ...made, apiKey: null })

  const headers = { authToken, apiKey: body.data.apiKey }
  const mine = await createRule('PAYMASTER_SA_LIMIT', limit)
  expect((await send('GET', 'paymaster-policy', undefined, headers)).body.data).toEqual([])
  for (const path of ['limit', 'activate', 'deactivate'])
    expect(await send('PATCH', `paymaster-policy/${path}/${mine}`, {}, headers)).toEqual(
      refused(404, 'Paymaster Policy not found'),
    )
  await setActive('deactivate', mine)
})

test('credentials are required, and those of another account are unknown', async () => {
  const both = refused(401, 'Auth token and API key is required in the headers')
  const stranger = await createTenant(purser().dataFolder, 'stranger')
  const routes = [
    ['POST', 'smart-contract'],
    ['GET', 'smart-contract'],
    ['PATCH', 'smart-contract'],
    ['DELETE', 'smart-contract'],
    ['POST', 'paymaster-policy'],
    ['GET', 'paymaster-policy'],
    ['PATCH', `paymaster-policy/limit/${randomUUID()}`],
    ['PATCH', `paymaster-policy/activate/${randomUUID()}`],
    ['PATCH', `paymaster-policy/deactivate/${randomUUID()}`],
  ] as const
  for (const [method, path] of routes) {
    expect(await send(method, path, undefined, {})).toEqual(both)
    const mixed = { authToken: stranger.authToken, apiKey: info().apiKey }
    expect((await send(method, path, undefined, mixed)).status).toBe(401)
  }
  for (const method of ['GET', 'POST'])
    expect(await send(method, 'paymaster', undefined, {})).toEqual(
      refused(401, 'Auth token is required in the headers'),
    )
  expect(
    (await send('GET', 'paymaster', undefined, { authToken: stranger.authToken })).body.data,
  ).toEqual([{ name: 'stranger', chainId: null, apiKey: null }])
  expect((await send('PUT', 'smart-contract')).status).toBe(405)
})

const contract = { name: 'n', address: TARGET, abi }
test.each([
  ['POST', 'paymaster', {}, 'name must be a string'],
  ['POST', 'paymaster', { name: '' }, 'name must have 1 to 100 characters'],
  ['POST', 'paymaster', { name: 'n', chainId: '31337' }, 'Chain ID not supported'],
  ['POST', 'smart-contract', { ...contract, name: 1 }, 'name must be a string'],
  ['POST', 'smart-contract', { ...contract, abi: [] }, 'abi must be a string'],
  ['POST', 'smart-contract', { ...contract, abi: '{' }, 'abi must be a stringified ABI'],
  ['POST', 'smart-contract', { ...contract, abi: '[null]' }, 'abi must be a stringified ABI'],
  [
    'POST',
    'smart-contract',
    { ...contract, address: 'x' },
    'address must be an address (0x and 40 hex digits)',
  ],
  [
    'POST',
    'smart-contract',
    { ...contract, whitelistedMethods: 'setQuote' },
    'whitelistedMethods must be an array',
  ],
  [
    'POST',
    'smart-contract',
    { ...contract, whitelistedMethods: ['none'] },
    'whitelistedMethods[0] must name a function of the abi',
  ],
  ['PATCH', 'smart-contract', { address: TARGET }, 'whitelistedMethods must be an array'],
  ['POST', 'paymaster-policy', { name: 'n' }, 'policyData must be an object'],
  [
    'POST',
    'paymaster-policy',
    { name: 'n', policyType: 'X', policyData: {} },
    'policyType must be "PAYMASTER_SA_LIMIT" or "WEBHOOK" or "WALLET_DEPLOYMENT"',
  ],
  ...(
    [
      [{ type: 'X' }, 'type must be "PAYMASTER" or "SMART_ACCOUNT"'],
      [{ threshold: '1' }, 'threshold must be a number from 0 to 1000000000'],
      [{ threshold: 0.5 }, 'threshold must be a whole number of operations'],
      [{ cycleDuration: 3 }, 'cycleDuration.unit must be "hour" or "day"'],
      [{ cycleDuration: { value: 32, unit: 'day' } }, 'cycleDuration must not exceed 31 days'],
    ] as const
  ).map(
    ([wrong, message]) =>
      [
        'POST',
        'paymaster-policy',
        { name: 'n', policyType: 'PAYMASTER_SA_LIMIT', policyData: { ...limit, ...wrong } },
        message,
      ] as const,
  ),
  [
    'POST',
    'paymaster-policy',
    { name: 'n', policyType: 'WEBHOOK', policyData: { url: 'ftp://a.b' } },
    'url must be a valid http or https URL',
  ],
] as const)('%s %s %o is 400: %s', async (method, path, body, message) => {
  expect(await send(method, path, body)).toEqual(refused(400, message))
})

test('what would be decided is told in both dialects', async () => {
  const op = await draftOf('both dialects')
  const asked = [op, info().entryPoints['0.6'], `0x${info().chainId.toString(16)}`]
  const classic = await result(info().paymasterUrl, 'pm_validateSponsorshipPolicies', [
    ...asked,
    { mode: 'SPONSORED', calculateGasLimits: true, sponsorshipInfo: {} },
  ])
  const standard = await result(info().standardUrl, 'pm_validateSponsorshipPolicies', [
    ...asked,
    {},
  ])
  for (const told of [classic, standard])
    expect(told).toMatchObject({
      sponsored: true,
      code: 'SPONSORED',
      policies: [{ name: 'Dashboard', scope: 'app', pays: true, code: 'PAYS' }],
    })
})

test.each(['viewer', 'developer', 'admin'] as const)(
  'a token with the role %s reads, and changes what its role may',
  async (role) => {
    const made = await fetch(`${info().url}/admin/v1/auth-tokens`, {
      method: 'POST',
      headers: { authToken: info().authToken },
      body: JSON.stringify({ name: role, role }),
    })
    const { authToken } = (await made.json()) as Json
    const headers = { ...own(), authToken }
    const refusal = (needed: string) => refused(403, `This needs the role ${needed}`)
    for (const path of ['paymaster', 'smart-contract', `webhook?webhookId=${randomUUID()}`])
      expect((await send('GET', path, undefined, headers)).status).toBe(200)
    // What is asked for is wrong or not there: only a role that suffices gets as far as that.
    const ofAdmins: readonly (readonly [string, string])[] = [
      ['POST', 'paymaster'],
      ['POST', 'smart-contract'],
      ['DELETE', 'smart-contract'],
      ['POST', 'paymaster-policy'],
      ['PATCH', `paymaster-policy/activate/${randomUUID()}`],
    ]
    for (const [method, path] of ofAdmins) {
      const answer = await send(method, path, {}, headers)
      if (role === 'admin') expect([400, 404]).toContain(answer.status)
      else expect(answer).toEqual(refusal('admin'))
    }
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const answer = await send(method, 'webhook', {}, headers)
      if (role === 'viewer') expect(answer).toEqual(refusal('developer'))
      else expect(answer.status).toBe(400)
    }
  },
)
