import { numberToHex } from 'viem'
import { beforeEach, expect, test } from 'vitest'
import { loadPolicies } from '../../src/policy/loadPolicies.js'
import { openDashboard } from '../../src/policy/manageDashboard.js'
import { createPolicies, type Policies } from '../../src/policy/managePolicies.js'
import { audited } from '../../src/store/tenants/audit.js'
import { createAccount } from '../../src/tenancy/manageAccounts.js'
import { createTenantApp } from '../../src/tenancy/manageApps.js'
import { createKey } from '../../src/tenancy/manageKeys.js'
import { testActor } from '../support/actor.js'
import { useDatabase } from '../support/database/database.js'

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
  policies = createPolicies(database())
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

test('an account has 200 apps, an app 100 keys and 2 MB of rules', async () => {
  const most = (count: number, run: (i: number) => Promise<unknown>) =>
    Array.from({ length: count }).reduce<Promise<unknown>>(
      (before, _, i) => before.then(() => run(i)),
      Promise.resolve(),
    )
  await audited(database(), testActor, async (change) => {
    await most(199, (i) => createTenantApp(change, accountId, `app ${i}`))
    await most(100, (i) => createKey(change, appId, { name: `key ${i}` }))
  })
  const one = audited(database(), testActor, (change) => createTenantApp(change, accountId, 'more'))
  await expect(one).rejects.toThrow(/200 apps, the most/)
  const key = audited(database(), testActor, (change) => createKey(change, appId, { name: 'more' }))
  await expect(key).rejects.toThrow(/100 keys, the most/)
  const rule = { type: 'GLOBAL', padding: 'x'.repeat(2_097_152) }
  const fat = audited(database(), testActor, async (change) =>
    (await openDashboard(change, { accountId, appId })).add('deployment', 'fat', rule),
  )
  await expect(fat).rejects.toThrow(/2097152 bytes of rules/)
})
