import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { numberToHex } from 'viem'
import { beforeEach, expect, test } from 'vitest'
import type { RateLimitError } from '../../src/base/errors/limitErrors.js'
import { type Policies, policiesOn } from '../support/database/policiesOn.js'
import { loadPolicies } from '../../src/paymaster/policy/policies.js'
import { prune } from '../../src/records/startRetention.js'
import { createAccount } from '../../src/tenants/accounts.js'
import { apps, createTenantApp, listApps } from '../../src/tenants/apps.js'
import { type Actor, audited } from '../../src/tenants/audit.js'
import { createKey, keys, listKeys, rotateKey } from '../../src/tenants/keys.js'
import { revokeRow } from '../../src/tenants/resource.js'
import { testActor } from '../support/actor.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'

/*
 * A tenant stores as much as it can: each of its requests for a sponsorship then loads all of it, at the
 * cost of everybody else. The attacker's gain is the time and memory of the process; both are bounded by
 * what a tenant may store, and by reading large terms once.
 */

const postgres = useDatabase()
function database() {
  return postgres().database
}

let policies: Policies
let accountId: string
let appId: string
beforeEach(async () => {
  policies = policiesOn(database())
  await audited(database(), testActor, async (change) => {
    accountId = (await createAccount(change, 'fat')).account.id
    appId = (await createTenantApp(change, accountId, 'fat'))?.id ?? ''
  })
})

/** Terms of some 460 kB. */
const fatTerms = {
  denySenders: Array.from({ length: 10_000 }, (_, i) => numberToHex(i + 1, { size: 20 })),
}

test('the terms of an app’s policies have 1 MB together, whichever way they come', async () => {
  for (const name of ['a', 'b']) await policies.create(accountId, { appId, name, terms: fatTerms })
  await expect(policies.create(accountId, { appId, name: 'c', terms: fatTerms })).rejects.toThrow(
    /1048576 bytes of terms together/,
  )
  const small = await policies.create(accountId, { appId, name: 'd', terms: {} })
  await expect(policies.update(accountId, small.policyId, { terms: fatTerms })).rejects.toThrow(
    /1048576 bytes/,
  )
  await policies.create(accountId, { appId: null, name: 'of the account', terms: fatTerms })
  expect(await policies.list(accountId)).toHaveLength(4)
})

test('of policies made at the same time no more than a hundred stay', async () => {
  const made = await Promise.allSettled(
    Array.from({ length: 104 }, (_, i) =>
      policies.create(accountId, { appId, name: `p${i}`, terms: {} }),
    ),
  )
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(100)
  expect(await policies.list(accountId)).toHaveLength(100)
})

test('terms are read and parsed once for all requests, and again after a change', async () => {
  const { policyId } = await policies.create(accountId, { appId, name: 'a', terms: fatTerms })
  const { ofApp } = await loadPolicies(database(), appId)
  const again = await loadPolicies(database(), appId)
  expect(again.ofApp[0]?.terms).toBe(ofApp[0]?.terms)
  await policies.update(accountId, policyId, { terms: { deploymentOnly: true } })
  const changed = await loadPolicies(database(), appId)
  expect(changed.ofApp).toMatchObject([{ id: policyId, terms: { deploymentOnly: true } }])
  await policies.remove(accountId, policyId)
  expect((await loadPolicies(database(), appId)).ofApp).toEqual([])
})

test('an account makes 1,000 changes a day, then waits; the operator does not', async () => {
  const tenant = { ...testActor, kind: 'account' } as const
  const loop = async (actor: Actor): Promise<void> => {
    await audited(database(), actor, async (change) => {
      const shown = await createKey(change, appId, { name: 'loop' })
      await revokeRow(change, keys, { id: shown?.key.id ?? '' })
    })
  }
  await loop(tenant)
  await sql`insert into audit_log (at, actor, action, object_id, account_id, hash)
    select now() - interval '10 hours', 'account', 'key.create', '', ${accountId}, ''
    from generate_series(1, 996)`.execute(database())
  await loop(tenant)
  const refusal = { code: -32_005, status: 429, limit: 'changes' }
  await expect(loop(tenant)).rejects.toMatchObject(refusal)
  const error: RateLimitError = await loop(tenant).then(
    () => Promise.reject(new Error('not refused')),
    (thrown) => thrown,
  )
  expect(error.retryAfter).toBeGreaterThan(13.9 * 3_600)
  expect(error.retryAfter).toBeLessThanOrEqual(14 * 3_600)
  await loop(testActor)
  expect(await listKeys(database(), appId)).toHaveLength(3)
})

test('changes of 16 MB are a day’s as well', async () => {
  await sql`insert into audit_log (at, actor, action, object_id, account_id, after, hash)
    select now(), 'account', 'policy.update', '', ${accountId},
      (select to_jsonb(string_agg(md5(random()::text), '')) from generate_series(1, 65536)), ''
    from generate_series(1, 9)`.execute(database())
  const actor = { ...testActor, kind: 'account' } as const
  const change = audited(database(), actor, (made) => createTenantApp(made, accountId, 'one more'))
  await expect(change).rejects.toMatchObject({ limit: 'changes' })
})

test('keys and apps that ended go after their time, unless money refers to them', async () => {
  const made = await audited(database(), testActor, async (change) => {
    const app = await createTenantApp(change, accountId, 'to end')
    const paid = await createTenantApp(change, accountId, 'paid')
    const first = await createKey(change, app?.id ?? '', { name: 'a' })
    const live = await createKey(change, appId, { name: 'live' })
    const old = await createKey(change, appId, { name: 'old' })
    const next = await rotateKey(change, appId, old?.key.id ?? '', 0)
    await revokeRow(change, apps, { id: app?.id ?? '' })
    await revokeRow(change, apps, { id: paid?.id ?? '' })
    return { app, paid, first, live, next }
  })
  const paidApp = made.paid?.id ?? ''
  await policies.create(accountId, { appId, name: 'stays', terms: {} })
  await sql`insert into policies (account_id, app_id, name, position, active, terms)
    values (${accountId}, ${made.app?.id}, 'goes', 1, true, '{}')`.execute(database())
  await sql`insert into funds (app_id, chain_id, mode) values (${paidApp}, 1, 'shared')`.execute(
    database(),
  )
  const retention = { database: database(), logger: silent, days: 90 }
  const later = (days: number) => new Date(Date.now() + days * 86_400_000)
  const appIds = async () => (await listApps(database(), accountId)).map(({ id }) => id)
  await prune(retention, later(89))
  expect(await appIds()).toHaveLength(3)
  expect(await listKeys(database(), appId)).toHaveLength(3)
  await prune(retention, later(91))
  expect((await appIds()).sort()).toEqual([appId, paidApp].sort())
  const kept = await listKeys(database(), appId)
  expect(kept.map(({ id }) => id).sort()).toEqual([made.live?.key.id, made.next?.key.id].sort())
  expect(kept.map(({ rotatedFrom }) => rotatedFrom)).toEqual([null, null])
  expect(await policies.list(accountId)).toHaveLength(1)
})

test('docs/operate/operations.md says of every table what bounds its rows', async () => {
  const { rows } = await sql<{
    name: string
  }>`select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'kysely%'
    order by 1`.execute(database())
  const text = readFileSync('docs/operate/operations.md', 'utf8')
  const listed = [...text.matchAll(/^\| `([a-z_`, ]+)` \| (.+) \|$/gm)]
    .flatMap(([, names = '']) => names.split(/`, `/))
    .filter((name) => rows.some((row) => row.name === name))
  expect(listed.sort()).toEqual(rows.map(({ name }) => name))
})
