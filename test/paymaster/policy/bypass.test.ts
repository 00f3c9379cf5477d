import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Address,
  concatHex,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  parseAbi,
  parseAbiParameters,
  parseEther,
  zeroAddress,
} from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createOutboundClient } from '../../../src/base/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../../src/base/outbound/networkGuard.js'
import { ethCall } from '../../../src/chain/ethCall.js'
import { adviseFees } from '../../../src/chain/fees.js'
import type { Draft } from '../../../src/erc4337/draft.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { listDecisions } from '../../../src/paymaster/ledger/decisions.js'
import { findTank } from '../../../src/paymaster/ledger/tanks.js'
import { listWebhookCalls } from '../../../src/paymaster/ledger/webhookCalls.js'
import { policiesOn } from '../../support/database/policiesOn.js'
import type { TermsInput } from '../../../src/paymaster/policy/policySchema.js'
import { signSponsorship } from '../../../src/paymaster/sponsor/signSponsorship.js'
import type { SponsorshipRequest, SponsorshipResult } from '../../../src/paymaster/sponsorship.js'
import { SIGNER_PURPOSE } from '../../../src/paymaster/tank/signForTank.js'
import { serveChain } from '../../../src/service/serveChain.js'
import { decryptSecret } from '../../../src/tenants/secrets.js'
import { createApprover } from '../../../src/webhooks/approve.js'
import { createWebhooks, webhookDeadline } from '../../../src/webhooks/manage.js'
import { testActor } from '../../support/actor.js'
import { createApp } from '../../support/database/createApp.js'
import { unsetGas } from '../../support/operations/unsetGas.js'
import { useWorld } from '../../support/world.js'

const world = useWorld({ versions: ['0.6'], definition: { pollInterval: 20 } })
function database() {
  return world().database
}

const allowed: Address = `0x${'a1'.repeat(20)}`
const forbidden: Address = `0x${'bd'.repeat(20)}`

const guard = createNetworkGuard([...loopback, '::ffff:127.0.0.1'])

/** The same service with every network closed; by the time of a call the name has changed to an address of this machine. */
function sponsorClosed(request: SponsorshipRequest): Promise<SponsorshipResult> {
  const { chain, parts } = world()
  const rebound = async () => [{ address: '127.0.0.1', family: 4 }]
  const client = createOutboundClient(createNetworkGuard([]), { resolve: rebound })
  const approver = createApprover({ ...parts, client })
  return serveChain(chain, { ...parts, client, approver })
    .sponsor(request)
    .finally(() => client.close())
}

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
  return policiesOn(database()).create(accountId, { appId, name: 'gate', terms })
}

async function newDraft(callData?: Hex) {
  const account = await world().at('0.6').account(`bypass ${seeds++}`)
  const { node, heads } = world().chain
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
  sponsor = world().sponsor,
) {
  const answer = await sponsor(world().request(appId, draft, choices)).catch(() => undefined)
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
  'function execute(bytes32 mode, bytes execution)',
  'function redeemDelegations(bytes[] contexts, bytes32[] modes, bytes[] executions)',
])
function execute(to: Address, data: Hex = '0x', value = 0n): Hex {
  return encodeFunctionData({ abi: accountAbi, functionName: 'execute', args: [to, value, data] })
}
function transfer(to: Address, value: bigint): Hex {
  return encodeFunctionData({ abi: accountAbi, functionName: 'transfer', args: [to, value] })
}
const manager: Address = `0x${'d1'.repeat(20)}`
const delegator: Address = `0x${'de'.repeat(20)}`
const calls = parseAbiParameters('(address to, uint256 value, bytes data)[]')
const delegations = parseAbiParameters(
  '(address delegate, address delegator, bytes32 authority, (address enforcer, bytes terms, bytes args)[] caveats, uint256 salt, bytes signature)[]',
)
/** A plain transfer to `to` by the delegator, with an enforcer where one is named, redeemed by the sender. */
function redeem(to: Address, enforcers: readonly Address[] = [], context?: Hex): Hex {
  const caveats = enforcers.map((enforcer) => ({ enforcer, terms: '0x', args: '0x' }) as const)
  const [delegate, authority] = [manager, `0x${'ff'.repeat(32)}`] as const
  const signed = { delegate, delegator, authority, caveats, salt: 0n, signature: '0x' } as const
  const args = [
    [context ?? encodeAbiParameters(delegations, [[signed]])],
    [`0x01${'00'.repeat(31)}` as Hex],
    [encodeAbiParameters(calls, [[{ to, value: 0n, data: '0x' }]])],
  ] as const
  return encodeFunctionData({ abi: accountAbi, functionName: 'redeemDelegations', args })
}
/** A redemption whose execution is another call of the manager. */
function redeemNested(data: Hex): Hex {
  const [contexts, modes] = decodeFunctionData({ abi: accountAbi, data }).args as [Hex[], Hex[]]
  const executions = [encodeAbiParameters(calls, [[{ to: manager, value: 0n, data }]])]
  const args = [contexts, modes, executions] as const
  return encodeFunctionData({ abi: accountAbi, functionName: 'redeemDelegations', args })
}
/** An ERC-8021 suffix of the code `baseapp`. */
const suffix: Hex = `0x${Buffer.from('baseapp').toString('hex')}070080218021802180218021802180218021`
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
    [
      'bytes behind the arguments, which an account may read',
      concatHex([execute(allowed), '0x00']),
      'CALL_DATA_UNKNOWN',
      /0xb61d27f6/,
    ],
    [
      'delegations that nobody can read',
      execute(manager, redeem(allowed, [], '0x')),
      'NESTED_CALL_NOT_ALLOWED',
      /0xcef6d209/,
    ],
    [
      'delegations that a manager redeems whom the policy does not name',
      execute(forbidden, redeem(allowed)),
      'CALL_NOT_ALLOWED',
      /call 1 of 1 \(0xcef6d209/,
    ],
    [
      'a call by a delegator',
      execute(manager, redeem(forbidden)),
      'CALL_NOT_ALLOWED',
      /call 1 of 1 for delegator 0xdede.* to 0xbdbd/,
    ],
    [
      'an enforcer of a delegation',
      execute(manager, redeem(allowed, [forbidden])),
      'CALL_NOT_ALLOWED',
      /call 2 of 2 for delegator 0xdede.* to 0xbdbd/,
    ],
    [
      'delegations within delegations',
      execute(manager, redeemNested(redeem(forbidden))),
      'CALL_NOT_ALLOWED',
      /0xbdbd/,
    ],
    [
      'the zero address, which stands for the account itself in ERC-7821',
      encodeFunctionData({
        abi: accountAbi,
        functionName: 'execute',
        args: [
          `0x01000000000078210001${'00'.repeat(22)}`,
          encodeAbiParameters(calls, [[{ to: zeroAddress, value: 0n, data: '0x' }]]),
        ],
      }),
      'CALL_NOT_ALLOWED',
      /to 0x0000/,
    ],
  ])('%s', async (_, callData, code, message) => {
    const { policyId } = await policy({
      calls: {
        allow: [
          { target: allowed, function: null, maxValue: '5' },
          { target: manager, function: 'redeemDelegations(bytes[],bytes32[],bytes[])' },
          { target: zeroAddress, function: null },
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

describe('an account whose delegation another one redeems', () => {
  const callData = concatHex([execute(manager, redeem(allowed)), suffix])

  test('is paid for, whatever data suffix follows, and its budget is its own', async () => {
    const { policyId } = await policy({
      calls: { allow: [{ target: allowed, function: null }, { target: manager }] },
      budgets: [{ per: 'delegator', limit: { count: 2 } }],
    })
    const sponsor = async (data: Hex) => {
      const { draft } = await newDraft()
      // The account is none that redeems: what the policy says of it is what counts here.
      return (await decide({ ...draft, callData: data })).decision
    }
    for (const _ of [1, 2]) expect(await sponsor(callData)).toMatchObject({ code: 'SPONSORED' })
    const third = await sponsor(callData)
    expect(third).toMatchObject({ code: 'BUDGET_EXCEEDED', policy_id: policyId })
    expect(third.message).toMatch(/2 operations of 2 operations .*per delegator/)
    expect(await sponsor(execute(allowed))).toMatchObject({ code: 'SPONSORED' })
  })

  test('is not paid for where it is denied as a sender', async () => {
    await policy({ denySenders: [delegator] })
    const { draft } = await newDraft(callData)
    expect((await decide(draft)).decision).toMatchObject({ code: 'SENDER_NOT_ALLOWED' })
  })

  test('has no budget that can be counted where the calls cannot be looked into', async () => {
    await policy({ budgets: [{ per: 'delegator', limit: { count: 2 } }] })
    const { draft } = await newDraft()
    const hidden = { ...draft, callData: execute(allowed, aggregate) }
    expect((await decide(hidden)).decision).toMatchObject({ code: 'CALL_DATA_UNKNOWN' })
  })
})

describe('a signature', () => {
  const refusalOf = async (op: Operation) => {
    const {
      entryPoint,
      chain: { node },
    } = world()
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
        const tank = await findTank(
          database(),
          appId,
          world().chainId,
          world().entryPoint.address,
          'gas',
        )
        if (tank === undefined || op.paymaster === undefined) throw new Error('no tank')
        const key = decryptSecret(world().parts.masterKey, SIGNER_PURPOSE, tank.signer_key) as Hex
        const range = { validAfter: 0, validUntil: Math.floor(Date.now() / 1000) + 300 }
        const signer = { address: tank.signer, key }
        const asked = { ...op, paymaster: op.paymaster }
        const domain = { entryPoint: world().entryPoint, chainId: world().chainId + 1 }
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
      await refusalOf(
        await signer.sign(changed, world().entryPoint.hash(changed, world().chainId)),
      ),
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

  const register = (webhookUrl: string, deadlineMs: number = webhookDeadline.longest) =>
    createWebhooks({
      database: database(),
      masterKey: world().parts.masterKey,
      guard,
      actor: testActor,
    }).create(appId, { webhookUrl, requestType: 'POST', deadlineMs })
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
    await register(`http://127.0.0.1:${port}/`, outcome === 'timeout' ? 1_000 : undefined)
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
    const { decision, calls } = await decide(draft, { webhookData: {} }, sponsorClosed)
    expect(decision).toMatchObject({ sponsored: false, code: 'WEBHOOK_FAILED' })
    expect(calls).toMatchObject([{ outcome: 'blocked_address' }])
    expect(bodies).toEqual([])
  })
})
