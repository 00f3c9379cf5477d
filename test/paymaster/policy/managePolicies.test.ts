import type { Hex } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { InvalidPolicyError } from '../../../src/base/errors/sponsorshipErrors.js'
import { inTransaction } from '../../../src/db/inTransaction.js'
import {
  type DecisionFilter,
  findDecision,
  findDecisionEntry,
  listDecisions,
} from '../../../src/paymaster/ledger/decisions.js'
import { grantedFees, putGrants } from '../../../src/paymaster/ledger/grants.js'
import { settleLedger } from '../../../src/paymaster/ledger/ledger.js'
import { evaluateRequest } from '../../../src/paymaster/policy/evaluatePolicies.js'
import { policyRoutes } from '../../../src/paymaster/policy/managePolicies.js'
import { type Policies, policiesOn } from '../../support/database/policiesOn.js'
import { loadPolicies } from '../../../src/paymaster/policy/policies.js'
import { prune } from '../../../src/records/startRetention.js'
import { createApp } from '../../support/database/createApp.js'
import { useDatabase } from '../../support/database/database.js'
import { everyExpired } from '../../support/database/everyExpired.js'
import { askLedger, budgetClaim } from '../../support/database/ledger.js'
import { usedOf } from '../../support/database/usedOf.js'
import { silent } from '../../support/logger.js'
import { alice, bob, entryPoint, tank } from '../../support/operations/inclusionOf.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}

let appId = ''
let accountId = ''
let policies: Policies
beforeEach(async () => {
  policies = policiesOn(database())
  appId = await createApp(database())
  accountId = await accountOf(appId)
})

async function accountOf(app: string) {
  const { account_id } = await database()
    .selectFrom('apps')
    .select('account_id')
    .where('id', '=', app)
    .executeTakeFirstOrThrow()
  return account_id
}

async function judge(given: object = {}) {
  const facts = { chainId: 1, at: 1_000, sender: alice, senderExists: false }
  const draft = { callData: '0x' as const, factory: undefined, factoryData: '0x' as const }
  return evaluateRequest(await loadPolicies(database(), appId), { ...facts, draft, ...given })
}

describe('policies', () => {
  test('are kept as they were written, in order, and those of the account come first', async () => {
    const terms = { chains: [1], budgets: [{ per: 'app', limit: { wei: '5' }, window: 'day' }] }
    await policies.create(accountId, { appId, name: 'second', position: 2, terms })
    await policies.create(accountId, { appId, name: 'first', position: 1, terms })
    await policies.create(accountId, { appId: null, name: 'account', terms: {} })
    const all = await policies.list(accountId)
    expect(all.map(({ name }) => name)).toEqual(['account', 'first', 'second'])
    expect(all[1]).toMatchObject({ appId, active: true, terms })
    expect((await policies.list(accountId, appId)).map(({ name }) => name)).toEqual([
      'first',
      'second',
    ])
    expect((await policies.list(accountId, null)).map(({ name }) => name)).toEqual(['account'])
  })

  test('of another account do not exist', async () => {
    const { policyId } = await policies.create(accountId, { appId, name: 'mine', terms: {} })
    const stranger = await accountOf(await createApp(database()))
    await expect(policies.get(stranger, policyId)).rejects.toThrow('Policy not found')
    await expect(policies.update(stranger, policyId, { active: false })).rejects.toThrow(
      'Policy not found',
    )
    await expect(policies.remove(stranger, policyId)).rejects.toThrow('Policy not found')
    await expect(policies.create(stranger, { appId, name: 'x', terms: {} })).rejects.toThrow(
      /appId/,
    )
    expect(await policies.list(stranger)).toEqual([])
    expect((await policies.get(accountId, policyId)).active).toBe(true)
  })

  test.each([
    ['terms that make no sense', { terms: { chains: ['1'] } }, /^terms\.chains\.0/],
    [
      'a budget per account of an app',
      { terms: { budgets: [{ per: 'account', limit: { count: 1 } }] } },
      /account/,
    ],
  ])('with %s are refused', async (_, given, message) => {
    const input = { appId, name: 'x', ...given }
    const refused = policies.create(accountId, input)
    await expect(refused).rejects.toThrow(InvalidPolicyError)
    await expect(refused).rejects.toThrow(message)
  })

  test('with an empty name or an unknown member are refused by the schema of the request', () => {
    const body = policyRoutes.find(({ method }) => method === 'POST')?.body
    expect(body?.safeParse({ appId, name: 'x', terms: {} }).success).toBe(true)
    for (const wrong of [{ name: '' }, { foo: 1 }])
      expect(body?.safeParse({ appId, name: 'x', terms: {}, ...wrong }).success).toBe(false)
  })

  test('change in part, and are gone when removed', async () => {
    const { policyId } = await policies.create(accountId, {
      appId,
      name: 'x',
      terms: { chains: [1] },
    })
    expect(await policies.update(accountId, policyId, { active: false })).toMatchObject({
      active: false,
      terms: { chains: [1] },
    })
    expect(await policies.update(accountId, policyId, { terms: {} })).toMatchObject({ terms: {} })
    await policies.remove(accountId, policyId)
    await expect(policies.get(accountId, policyId)).rejects.toThrow('Policy not found')
  })
})

describe('a request', () => {
  test('of an app without policies stands', async () => {
    expect(await judge()).toMatchObject({ passed: { ofAccount: [], ofApp: undefined } })
  })

  test('of an app whose only policy is paused is refused', async () => {
    await policies.create(accountId, { appId, name: 'paused', active: false, terms: {} })
    expect(await judge()).toMatchObject({ refusal: { code: 'POLICY_INACTIVE' } })
  })

  test.each([
    [{ chains: [2] }, 'CHAIN_NOT_COVERED'],
    [{ validFrom: 1_001 }, 'POLICY_NOT_IN_FORCE'],
    [{ validUntil: 999 }, 'POLICY_NOT_IN_FORCE'],
    [{ allowSenders: [bob] }, 'SENDER_NOT_ALLOWED'],
    [{ denySenders: [alice] }, 'SENDER_NOT_ALLOWED'],
    [{ deploymentOnly: true }, 'NOT_A_DEPLOYMENT'],
    [{ chains: [1], validFrom: 1_000, validUntil: 1_000, allowSenders: [alice] }, undefined],
  ])('under %o: %s', async (terms, code) => {
    await policies.create(accountId, { appId, name: 'rule', terms })
    const judged = await judge()
    expect(judged.passed === undefined ? judged.refusal.code : undefined).toBe(code)
  })

  test('needs all policies of the account that are for its chain, and one of the app', async () => {
    await policies.create(accountId, {
      appId: null,
      name: 'other chain',
      terms: { chains: [2], denySenders: [alice] },
    })
    await policies.create(accountId, { appId, name: 'no', terms: { denySenders: [alice] } })
    expect(await judge()).toMatchObject({ refusal: { code: 'SENDER_NOT_ALLOWED' } })
    const yes = await policies.create(accountId, { appId, name: 'yes', terms: {} })
    expect((await judge()).passed?.ofApp).toMatchObject([{ id: yes.policyId }])
    await policies.create(accountId, {
      appId: null,
      name: 'never',
      terms: { denySenders: [alice] },
    })
    expect(await judge()).toMatchObject({ refusal: { message: /^Policy never:/ } })
  })
})

describe('decisions', () => {
  const chainId = 9_000_001
  const sponsor = (nonce: bigint, policyId: string) => {
    const claim = budgetClaim({ policyId, limit: 10n ** 9n, amount: 100n })
    return askLedger(database(), {
      slot: { chainId, entryPoint, paymaster: tank, appId, sender: alice, nonce },
      maxCost: 100n,
      validUntil: 2_000n,
      head: { deposit: 10n ** 9n, blockNumber: 1n, timestamp: 1_000 },
      claim: { ofApp: [{ policyId, claims: [claim] }] },
    })
  }

  test('are listed by the newest, page by page, within an account', async () => {
    const { policyId } = await policies.create(accountId, { appId, name: 'x', terms: {} })
    const made: string[] = []
    for (let nonce = 0n; nonce < 5n; nonce++)
      made.unshift((await sponsor(nonce, policyId)).decisionId)
    const seen: string[] = []
    let before: string | undefined
    do {
      const page = await listDecisions(database(), { accountId, policyId }, { limit: 2, before })
      seen.push(...page.items.map(({ id }) => id))
      before = page.next
    } while (before !== undefined)
    expect(seen).toEqual(made)
    const stranger = await accountOf(await createApp(database()))
    const none = { items: [], next: undefined }
    const first = { limit: 9, before: undefined }
    const list = (filter: DecisionFilter) => listDecisions(database(), filter, first)
    expect(await list({ accountId: stranger, appId })).toEqual(none)
    expect(await findDecisionEntry(database(), made[0]!, stranger)).toBeUndefined()
    expect(await findDecisionEntry(database(), made[0]!, accountId)).toMatchObject({
      reservation_state: 'open',
      actual_cost: null,
    })
    expect(await list({ sender: bob, appId })).toEqual(none)
    expect(await list({ appId: 'nonsense' })).toEqual(none)
    const otherApp = await createApp(database())
    const ofOtherApp = { limit: 9, before: made[0]! }
    expect(await listDecisions(database(), { appId }, ofOtherApp)).toMatchObject({
      items: made.slice(1).map((id) => ({ id })),
    })
    expect(await listDecisions(database(), { appId: otherApp }, ofOtherApp)).toEqual(none)
  })

  test('are forgotten when old, but not while they hold money; counters stay', async () => {
    const { policyId } = await policies.create(accountId, { appId, name: 'x', terms: {} })
    const ended = await sponsor(0n, policyId)
    for (const _ of ['expired', 'released']) {
      const looked = await everyExpired(database(), chainId, 9n)
      const progress = { number: 9n, timestamp: 2_001, final: 9n, looked }
      await database()
        .transaction()
        .execute((trx) => settleLedger(trx, chainId, [], progress))
    }
    const open = await sponsor(1n, policyId)
    await database()
      .updateTable('decisions')
      .set({ created_at: new Date(0) })
      .where('app_id', '=', appId)
      .execute()
    const now = Math.floor(Date.now() / 1000)
    const grant = (userOpHash: Hex, age: number) => ({
      chainId,
      userOpHash,
      appId,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 0n,
      validUntil: now - age * 86_400,
    })
    await inTransaction(database(), (trx) => putGrants(trx, [grant('0x01', 91), grant('0x02', 89)]))
    await prune({ database: database(), logger: silent, days: 90 }, new Date())
    expect([...(await grantedFees(database(), chainId, ['0x01', '0x02'])).keys()]).toEqual(['0x02'])
    expect(await findDecision(database(), ended.decisionId)).toBeUndefined()
    expect(await findDecision(database(), open.decisionId)).toBeDefined()
    const query = { policyId, budget: 'app wei never', subject: '', oldest: 0n }
    expect(await usedOf(database(), query)).toBe(100n)
  })
})
