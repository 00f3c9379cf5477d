import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Address,
  concatHex,
  encodeFunctionData,
  encodePacked,
  type Hex,
  parseAbi,
  parseEther,
} from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ethCall } from '../../src/chain/ethCall.js'
import { adviseFees } from '../../src/chain/fees.js'
import type { Draft } from '../../src/entrypoint/draft.js'
import type { Operation } from '../../src/entrypoint/operation.js'
import { createOutboundClient } from '../../src/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../src/outbound/networkGuard.js'
import { signSponsorship } from '../../src/paymaster/sponsor/signSponsorship.js'
import type { SponsorshipRequest } from '../../src/paymaster/sponsorship.js'
import { SIGNER_PURPOSE } from '../../src/paymaster/tank/signForTank.js'
import { createPolicies } from '../../src/policy/managePolicies.js'
import type { TermsInput } from '../../src/policy/policySchema.js'
import { listDecisions } from '../../src/store/ledger/decisions.js'
import { findTank } from '../../src/store/ledger/tanks.js'
import { listWebhookCalls } from '../../src/store/ledger/webhookCalls.js'
import { decryptSecret } from '../../src/tenancy/secrets.js'
import { createWebhooks } from '../../src/webhook/manage.js'
import { testActor } from '../support/actor.js'
import { chainId, useChain } from '../support/chain/useChain.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { type SponsorWorld, sponsorWorld } from '../support/service/sponsorWorld.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}
const chain = useChain()

const allowed: Address = `0x${'a1'.repeat(20)}`
const forbidden: Address = `0x${'bd'.repeat(20)}`

/** `open` calls webhooks on this machine; `closed` is the same service with every network closed. */
let worlds: { readonly open: SponsorWorld; readonly closed: SponsorWorld } | undefined
function world(name: 'open' | 'closed' = 'open'): SponsorWorld {
  if (worlds === undefined) throw new Error('The chain does not run yet.')
  return worlds[name]
}
const guard = createNetworkGuard([...loopback, '::ffff:127.0.0.1'])

beforeAll(() => {
  const { node, heads, entryPoint, tankFactory } = chain()
  const definition = { chainId, tankFactory }
  const parts = { database: database(), node, heads, entryPoint, definition }
  const open = sponsorWorld({ ...parts, client: createOutboundClient(guard) })
  // By the time of the call the name has changed to an address of this machine.
  const rebound = async () => [{ address: '127.0.0.1', family: 4 }]
  const client = createOutboundClient(createNetworkGuard([]), { resolve: rebound })
  worlds = { open, closed: sponsorWorld({ ...parts, masterKey: open.masterKey, client }) }
})
afterAll(() => {
  worlds?.open.close()
  worlds?.closed.close()
})

let appId = ''
let accountId = ''
let seeds = 0
beforeEach(async () => {
  appId = await createApp(database())
  const app = await database()
    .selectFrom('apps')
    .select('account_id')
    .where('id', '=', appId)
    .executeTakeFirstOrThrow()
  accountId = app.account_id
  await world().makeTank(appId, parseEther('1'))
})

function policy(terms: TermsInput) {
  return createPolicies(database()).create(accountId, { appId, name: 'gate', terms })
}

async function newDraft(callData?: Hex) {
  const account = await chain().account(`bypass ${seeds++}`)
  const { node, heads } = chain()
  const { standard } = await adviseFees(node, await heads.refresh(), {})
  const draft: Draft = {
    ...(await account.draft({ to: allowed })),
    ...unsetGas,
    ...standard,
    ...(callData && { callData }),
  }
  return { account, draft }
}

/** Asks for a sponsorship; the record of it too, since a refused operation may fail self-paid as well. */
async function decide(
  draft: Draft,
  choices: Partial<SponsorshipRequest> = {},
  { sponsor, request } = world(),
) {
  const answer = await sponsor.sponsor(request(appId, draft, choices)).catch(() => undefined)
  const page = { limit: 1, before: undefined }
  const { items: decisions } = await listDecisions(database(), { appId }, page)
  const [decision] = decisions
  if (decision === undefined) throw new Error('nothing was recorded')
  return { answer, decision, calls: await listWebhookCalls(database(), decision.id) }
}

const accountAbi = parseAbi([
  'function execute(address to, uint256 value, bytes data)',
  'function executeBatch(address[] to, bytes[] data)',
  'function executeUserOp(address to, uint256 value, bytes data, uint8 operation)',
  'function aggregate3((address target, bool allowFailure, bytes data)[] calls)',
  'function transfer(address to, uint256 value)',
])
function execute(to: Address, data: Hex = '0x', value = 0n): Hex {
  return encodeFunctionData({ abi: accountAbi, functionName: 'execute', args: [to, value, data] })
}
function transfer(to: Address, value: bigint): Hex {
  return encodeFunctionData({ abi: accountAbi, functionName: 'transfer', args: [to, value] })
}
const aggregate = encodeFunctionData({
  abi: accountAbi,
  functionName: 'aggregate3',
  args: [[{ target: forbidden, allowFailure: false, data: '0x' }]],
})

describe('calls that a policy does not pay for', () => {
  test.each<[name: string, callData: Hex, code: string, message: RegExp]>([
    ['another target', execute(forbidden), 'CALL_NOT_ALLOWED', /call 1 of 1/],
    [
      'a batch with one of them',
      encodeFunctionData({
        abi: accountAbi,
        functionName: 'executeBatch',
        args: [
          [allowed, forbidden, allowed],
          ['0x', '0x', '0x'],
        ],
      }),
      'CALL_NOT_ALLOWED',
      /call 2 of 3 \(transfer to 0xbdbd/,
    ],
    ['another function', execute(allowed, '0x095ea7b3'), 'CALL_NOT_ALLOWED', /0x095ea7b3/],
    [
      'more than an argument may be',
      execute(allowed, transfer(forbidden, 101n)),
      'CALL_NOT_ALLOWED',
      /0xa9059cbb/,
    ],
    ['more value', execute(allowed, '0x', 6n), 'CALL_NOT_ALLOWED', /value 6 wei/],
    ['an account that nobody knows', '0xdeadbeef00', 'CALL_DATA_UNKNOWN', /0xdeadbeef/],
    ['a multicall', execute(allowed, aggregate), 'NESTED_CALL_NOT_ALLOWED', /0x82ad56cb/],
    [
      'execute within execute',
      execute(allowed, execute(forbidden)),
      'NESTED_CALL_NOT_ALLOWED',
      /0xb61d27f6/,
    ],
    [
      'a delegatecall of a Safe',
      encodeFunctionData({
        abi: accountAbi,
        functionName: 'executeUserOp',
        args: [allowed, 0n, '0x', 1],
      }),
      'DELEGATE_CALL_NOT_ALLOWED',
      /delegatecall to 0xa1a1/,
    ],
    [
      'a delegatecall of ERC-7579',
      concatHex([
        '0xe9ae5c53ff',
        `0x${'00'.repeat(31)}`,
        encodePacked(['uint256', 'uint256', 'bytes'], [64n, 20n, `${allowed}${'00'.repeat(12)}`]),
      ]),
      'DELEGATE_CALL_NOT_ALLOWED',
      /delegatecall/,
    ],
  ])('%s', async (_, callData, code, message) => {
    const { policyId } = await policy({
      calls: {
        allow: [
          { target: allowed, function: null, maxValue: '5' },
          { target: allowed, function: 'transfer(address,uint256)', where: { 1: { $lte: '100' } } },
        ],
      },
    })
    const { draft } = await newDraft(callData)
    const { decision } = await decide(draft)
    expect(decision).toMatchObject({ sponsored: false, code, policy_id: policyId, max_cost: 0n })
    expect(decision.message).toMatch(message)
    expect(decision.details).toMatchObject({ policies: [{ policyId, passed: false, code }] })
  })

  test('while those that it names are paid', async () => {
    await policy({ calls: { allow: [{ target: allowed, function: null }] } })
    const { draft } = await newDraft()
    const { decision } = await decide(draft)
    expect(decision).toMatchObject({ sponsored: true, code: 'SPONSORED' })
  })
})

describe('a signature', () => {
  const refusalOf = async (op: Operation) => {
    const { node, entryPoint } = chain()
    const data = entryPoint.encodeHandleOps([op], allowed)
    const outcome = await ethCall(node, { to: entryPoint.address, data })
    return outcome.ok ? undefined : entryPoint.decodeFailure(outcome.revertData)?.code
  }
  type Change = (op: Operation, other: Operation) => Promise<Operation> | Operation

  test.each<[name: string, change: Change, code: string | undefined]>([
    ['as it was given is good', (op) => op, undefined],
    [
      'is void with other gas limits',
      (op) => ({ ...op, callGasLimit: op.callGasLimit + 1n }),
      'AA34',
    ],
    ['is void with other fees', (op) => ({ ...op, maxFeePerGas: op.maxFeePerGas + 1n }), 'AA34'],
    ['is void with another nonce', (op) => ({ ...op, nonce: 1n << 64n }), 'AA34'],
    ['is void with other call data', (op) => ({ ...op, callData: execute(forbidden) }), 'AA34'],
    [
      'is void for another operation',
      (op, other) => ({ ...other, paymaster: op.paymaster, paymasterData: op.paymasterData }),
      'AA34',
    ],
    [
      'of another chain is void',
      async (op) => {
        const tank = await findTank(database(), appId, chainId, chain().entryPoint.address, 'gas')
        if (tank === undefined || op.paymaster === undefined) throw new Error('no tank')
        const key = decryptSecret(world().masterKey, SIGNER_PURPOSE, tank.signer_key) as Hex
        const range = { validAfter: 0, validUntil: Math.floor(Date.now() / 1000) + 300 }
        const signer = { address: tank.signer, key }
        const asked = { ...op, paymaster: op.paymaster }
        const { contract } = tank
        const domain = { entryPoint: chain().entryPoint, chainId: chainId + 1, contract }
        return signSponsorship(asked, domain, range, signer)
      },
      'AA34',
    ],
  ])('%s', async (_, change, code) => {
    const { account, draft } = await newDraft()
    const first = await decide(draft)
    const second = await newDraft()
    const other = (await decide(second.draft)).answer?.operation
    const op = first.answer?.operation
    if (op === undefined || other === undefined) throw new Error('not sponsored')
    const changed = await change(op, other)
    const signer = changed.sender === op.sender ? account : second.account
    expect(
      await refusalOf(await signer.sign(changed, chain().entryPoint.hash(changed, chainId))),
    ).toBe(code)
  })
})

describe('the approval of a webhook', () => {
  let server: Server
  let port = 0
  let bodies: string[] = []
  let answer: (response: ServerResponse) => void = () => {}
  beforeEach(async () => {
    bodies = []
    answer = (response) => response.end('{"arePoliciesVerified":true}')
    server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      bodies.push(body)
      answer(response)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    port = (server.address() as AddressInfo).port
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })

  const register = (webhookUrl: string) =>
    createWebhooks({
      database: database(),
      masterKey: world().masterKey,
      guard,
      actor: testActor,
    }).create(appId, { webhookUrl, requestType: 'POST', deadlineMs: 500 })
  const denial = '{"arePoliciesVerified":false}'

  test('is asked for without webhookData where the policy says always', async () => {
    await policy({ webhookMode: 'always' })
    await register(`http://127.0.0.1:${port}/`)
    answer = (response) => response.end(denial)
    const { draft } = await newDraft()
    const { decision, calls } = await decide(draft)
    expect(decision).toMatchObject({ sponsored: false, code: 'WEBHOOK_DENIED' })
    expect(calls).toMatchObject([{ outcome: 'denied' }])
    expect(bodies).toEqual(['{"data":{}}'])
  })

  test('is missing where the policy says always and no webhook is active', async () => {
    const { policyId } = await policy({ webhookMode: 'always' })
    const { draft } = await newDraft()
    const { decision } = await decide(draft, { webhookData: {} })
    expect(decision).toMatchObject({ code: 'NO_ACTIVE_WEBHOOK', policy_id: policyId })
  })

  test('of one request is none for the next with the same data', async () => {
    await register(`http://127.0.0.1:${port}/`)
    const webhookData = { user: 'alice' }
    const first = await decide((await newDraft()).draft, { webhookData })
    expect(first.decision.sponsored).toBe(true)
    answer = (response) => response.end(denial)
    const second = await decide((await newDraft()).draft, { webhookData })
    expect(second.decision).toMatchObject({ sponsored: false, code: 'WEBHOOK_DENIED' })
    expect(bodies).toHaveLength(2)
  })

  test.each<[name: string, answer: (response: ServerResponse) => void, outcome: string]>([
    ['late', () => {}, 'timeout'],
    [
      'large',
      (response) => response.end(`{"arePoliciesVerified":true,"x":"${'y'.repeat(20_000)}"}`),
      'too_large',
    ],
    [
      'elsewhere',
      (response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/yes` }).end(),
      'redirect',
    ],
    ['"true"', (response) => response.end('{"arePoliciesVerified":"true"}'), 'invalid_response'],
    [
      'an error',
      (response) => response.writeHead(500).end('{"arePoliciesVerified":true}'),
      'http_status',
    ],
  ])('that is %s is a no', async (_, given, outcome) => {
    await register(`http://127.0.0.1:${port}/`)
    answer = given
    const { draft } = await newDraft()
    const { decision, calls } = await decide(draft, { webhookData: {} })
    expect(decision).toMatchObject({ sponsored: false, code: 'WEBHOOK_FAILED' })
    expect(calls).toMatchObject([{ outcome }])
    expect(bodies).toHaveLength(1)
  })

  test.each([
    ['a name that has changed since it was registered', 'https://hook.example/'],
    ['an IPv6-mapped loopback', 'https://[::ffff:127.0.0.1]/'],
    ['a decimal loopback', 'https://2130706433/'],
  ])('is not sought at %s', async (_, url) => {
    await register(url)
    const { draft } = await newDraft()
    const { decision, calls } = await decide(draft, { webhookData: {} }, world('closed'))
    expect(decision).toMatchObject({ sponsored: false, code: 'WEBHOOK_FAILED' })
    expect(calls).toMatchObject([{ outcome: 'blocked_address' }])
    expect(bodies).toEqual([])
  })
})
