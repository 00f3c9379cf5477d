import { sql } from 'kysely'
import { type Address, type Hex, parseEther } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { adviseFees, mostBid } from '../../src/chain/fees.js'
import { getTransactionReceipts } from '../../src/chain/nodeReads.js'
import { localSigner } from '../../src/chain/signing/localSigner.js'
import type { Draft } from '../../src/erc4337/draft.js'
import { depositTo } from '../../src/paymaster/entryPointDeposit.js'
import type { Tank } from '../../src/paymaster/tanks.js'
import { makeContent, sponsoredChains } from '../../src/records/statements/statements.js'
import { verifyLedger } from '../../src/records/verifyLedger.js'
import { createApp } from '../support/database/createApp.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { tankOwnerKey } from '../support/world/sponsoring.js'
import { TARGET } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/* The ledger against the chain, by logs and receipts alone: tanks of four versions, credit, rebates, a reorg. */

const versions = ['0.6', '0.7', '0.8', '0.9'] as const
const CHAIN_ID = 51_234
const world = useWorld({
  versions,
  definition: { finalityDepth: 40, chainId: CHAIN_ID },
  config: { nativePrices: { [CHAIN_ID]: '3000.5' } },
})
const tanks = new Map<string, Tank>()
let shared: Tank
let apps: { readonly shared: string; readonly native: string }

const verify = (from?: bigint) => {
  const { chainId, chain, database } = world()
  return verifyLedger(database, chain.node, { chainId, days: 90, from })
}

const differences = async () => {
  const { accounts } = await verify()
  return accounts.flatMap(({ kind, holder, first }) => (first ? [{ kind, holder, ...first }] : []))
}

/** Sponsors and admits one operation of a fresh sender. */
async function send(
  version: (typeof versions)[number],
  appId: string,
  seed: string,
  call: { readonly to: Address; readonly data: Hex } = { to: TARGET, data: '0x' },
) {
  const chain = world().at(version)
  const { entryPoint } = chain
  const drafted = await chain.draft('deployed', seed, call)
  // All pay more than a bundle bids, so that they share one.
  const { node } = world().chain
  const { fast } = await adviseFees(node, await world().heads.refresh(), world().definition)
  const draft: Draft = { ...drafted, ...unsetGas, ...mostBid(node, fast) }
  const { decision, operation } = await world().sponsor(
    world().request(appId, draft, { entryPoint }),
  )
  expect(decision.code).toBe('SPONSORED')
  return world().services.admit(
    world().chain.entryPoints.find(({ address }) => address === entryPoint.address)!,
    await chain.sign(operation, seed),
    { appId, requester: undefined, simulateExecution: false },
  )
}

beforeAll(async () => {
  const { database, appId, at } = world()
  for (const version of versions)
    tanks.set(version, await world().makeTank(appId, parseEther('1'), at(version).entryPoint))
  shared = await world().makeTank(null, parseEther('1'))
  apps = { shared: await createApp(database), native: await createApp(database) }
  for (const mode of ['shared', 'native'] as const) {
    await world().funds.setMode(apps[mode], mode)
    await world().funds.credit(apps[mode], parseEther('0.5'), 'invoice 1')
  }
  for (const version of versions) await send(version, appId, `own ${version}`)
  for (const seed of ['a', 'b', 'c']) {
    await send('0.6', apps.shared, `shared ${seed}`)
    await send('0.6', apps.native, `native ${seed}`)
  }
  await world().settle()
})

describe('the ledger', () => {
  test('agrees with the chain to the wei, with refunds and rebates', async () => {
    const { accounts } = await verify(0n)
    expect(accounts.filter(({ first }) => first)).toEqual([])
    const charged = accounts.filter(({ kind }) => kind === 'charges')
    expect(charged.map(({ entries }) => entries)).toEqual([1, 1, 1, 1, 3])
    for (const { derived, stated } of accounts) expect(derived).toBe(stated)
    for (const { derived } of charged) expect(derived).toBeGreaterThan(0n)
    const credits = accounts.filter(({ kind }) => kind === 'credit')
    expect(credits.map(({ entries }) => entries)).toEqual([3, 3])
    for (const { stated } of credits) expect(stated).toBeLessThan(parseEther('0.5'))
    const { rows } = await sql<{ rebates: bigint }>`select sum(rebate) as rebates from reservations
      where chain_id = ${world().chainId}`.execute(world().database)
    expect(rows[0]?.rebates).toBeGreaterThan(0n)
  })

  test('agrees after a reorg, a withdrawal, a credit taken back and a deposit by others', async () => {
    const { number } = await world().heads.refresh()
    const [first] = (await verify()).accounts.filter(({ kind }) => kind === 'charges')
    expect(first?.entries).toBe(1)
    const { rows } = await sql<{ block: bigint }>`select min(block_number) as block from inclusions
      where chain_id = ${world().chainId}`.execute(world().database)
    await world().anvil.request('anvil_reorg', [Number(number - rows[0]!.block) + 1, []])
    await expect(verify()).rejects.toThrow(/run it again/)
    await world().round()
    expect((await verify()).accounts[0]?.entries).toBe(0)
    await world().settle()
    const tank = tanks.get('0.7')!
    const owner = localSigner(tankOwnerKey)
    await world().tanks.withdraw(tank, world().owner, parseEther('0.25'), 0n, owner)
    await world().tanks.deposit(tank, 7n, owner)
    await world().funds.credit(apps.shared, -parseEther('0.1'), 'refund')
    await send('0.7', world().appId, 'after the withdrawal')
    await world().settle()
    const { accounts } = await verify()
    expect(accounts.filter(({ first }) => first)).toEqual([])
    const deposit = accounts.find((each) => each.kind === 'deposit' && each.holder === tank.address)
    expect(deposit?.entries).toBe(3)
    expect(deposit?.derived).toBe(deposit?.stated)
  })

  /** Rows in which one wei is added, and the account whose first difference then is the operation of the row. */
  const plants = [
    ['an inclusion', 'inclusions', 'actual_gas_cost', 'charges'],
    ['a reservation', 'reservations', 'actual_cost', 'charges'],
    ['a rebate', 'reservations', 'rebate', 'charges'],
    ['a charge', 'charges', 'settled', 'charges'],
  ] as const

  test.each(plants)('locates one wei that was added to %s', async (_, table, column, kind) => {
    const { database, chainId } = world()
    const { rows } = await sql<{ hash: Hex; block: bigint; id: string }>`
      select i.user_op_hash as hash, i.block_number as block, r.id::text as id
      from inclusions i join reservations r on (r.chain_id, r.user_op_hash) = (i.chain_id, i.user_op_hash)
      where i.chain_id = ${chainId} and i.paymaster = ${shared.address}
      order by i.block_number, i.log_index offset 1 limit 1`.execute(database)
    const { hash, block, id } = rows[0]!
    const is = {
      inclusions: sql`chain_id = ${chainId} and user_op_hash = ${hash}`,
      reservations: sql`id = ${id}::bigint`,
      charges: sql`reservation_id = ${id}::bigint and unit = 'wei'`,
    }[table]
    const add = (wei: number) =>
      sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} + ${wei} where ${is}`.execute(
        database,
      )
    await add(1)
    try {
      const found = await differences()
      expect(found[0]).toMatchObject({
        kind,
        holder: shared.address,
        userOpHash: hash,
        blockNumber: block,
      })
    } finally {
      await add(-1)
    }
    expect(await differences()).toEqual([])
  })

  test('locates one wei in the cost of an operation without fees, and in a sum', async () => {
    const { database, chainId } = world()
    const reservation = sql`id = (select min(id) from reservations where chain_id = ${chainId}
      and app_id = ${apps.native} and actual_cost > 0)`
    const counter = sql`policy_id = (select id from funds where chain_id = ${chainId}
      and app_id = ${apps.native})`
    for (const [table, column, is, hasHash] of [
      ['reservations', 'actual_cost', reservation, true],
      ['budget_counters', 'settled', counter, false],
    ] as const) {
      const add = (wei: number) =>
        sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} + ${wei} where ${is}`.execute(
          database,
        )
      await add(1)
      const [found] = await differences()
      expect(found).toMatchObject({ kind: 'credit', holder: apps.native })
      expect(found?.userOpHash !== undefined).toBe(hasHash)
      await add(-1)
    }
    expect(await differences()).toEqual([])
  })

  test('finds the place of an entry that is missing, where another is booked that the chain does not have', async () => {
    const { database, chainId } = world()
    const isOfTank = sql`chain_id = ${chainId} and paymaster = ${tanks.get('0.8')!.address}`
    const { rows } = await sql<{ hash: Hex }>`select user_op_hash as hash from inclusions
      where ${isOfTank}`.execute(database)
    const [{ hash } = { hash: '0x' }] = rows
    const other = `0x${'ee'.repeat(32)}`
    const rename = (from: string, to: string) =>
      sql`update inclusions set user_op_hash = ${to} where ${isOfTank} and user_op_hash = ${from}`.execute(
        database,
      )
    await rename(hash, other)
    const found = await differences()
    expect(found).toHaveLength(1)
    expect([hash, other]).toContain(found[0]?.userOpHash)
    await rename(other, hash)
    expect(await differences()).toEqual([])
  })

  test('says nothing of a deposit that grew inside a bundle of its tank, until the next deposit', async () => {
    const tank = tanks.get('0.9')!
    const { entryPoint } = world().at('0.9')
    const data = depositTo(tank.address)
    await send('0.9', world().appId, 'own 0.9', { to: entryPoint.address, data })
    await world().settle()
    const deposit = async () => {
      const { accounts } = await verify()
      return accounts.find((each) => each.kind === 'deposit' && each.holder === tank.address)
    }
    expect(await deposit()).toMatchObject({ entries: 2, derived: undefined, first: undefined })
    await world().tanks.deposit(tank, 5n, localSigner(tankOwnerKey))
    const after = await deposit()
    expect(after).toMatchObject({ entries: 3, derived: after?.stated, first: undefined })
  })
})

describe('the entries for accountants', () => {
  type Balance = {
    readonly currency: string
    readonly kind: string
    readonly account: string
    readonly holder: string
    readonly amount: bigint
  }

  const balances = async (): Promise<readonly Balance[]> => {
    const { rows } = await sql<Balance>`select currency, kind, account, holder,
      sum(amount)::numeric(78, 0) as amount from ledger_entries where chain_id = ${world().chainId}
      group by 1, 2, 3, 4`.execute(world().database)
    return rows
  }
  const balanceOf = (all: readonly Balance[], where: Partial<Balance>): bigint =>
    all
      .filter((each) => Object.entries(where).every(([n, value]) => each[n as 'kind'] === value))
      .reduce((sum, { amount }) => sum + amount, 0n)

  test('sum to zero in each currency, and give the balances that the chain alone gives', async () => {
    const { database, chainId, chain } = world()
    const { rows } = await sql<{ entries: bigint; sum: bigint }>`select count(*) as entries,
      sum(amount)::numeric(78, 0) as sum from ledger_entries where chain_id = ${chainId}
      group by currency`.execute(database)
    expect(rows.map(({ sum }) => sum)).toEqual([0n])
    expect(rows[0]?.entries).toBeGreaterThan(30n)
    const all = await balances()
    const { accounts } = await verify(0n)
    const paid = accounts.filter(({ kind }) => kind === 'charges')
    expect(paid).toHaveLength(5)
    for (const { holder, derived } of paid)
      expect(-balanceOf(all, { kind: 'charge', account: 'tank', holder })).toBe(derived)
    const credits = accounts.filter(({ kind }) => kind === 'credit')
    expect(credits).toHaveLength(2)
    for (const { holder, derived } of credits)
      expect(balanceOf(all, { account: 'credit', holder })).toBe(derived)
    const { rows: bundles } = await sql<{ hash: Hex }>`select distinct transaction_hash as hash
      from bundles where chain_id = ${chainId} and cost is not null`.execute(database)
    const receipts = await getTransactionReceipts(
      chain.node,
      bundles.map(({ hash }) => hash),
    )
    const gas = receipts.reduce((sum, r) => sum + r.gasUsed * r.effectiveGasPrice, 0n)
    expect(receipts.length).toBeGreaterThan(1)
    expect(balanceOf(all, { account: 'chain' })).toBe(gas)
    const kept = balanceOf(all, { account: 'executor' })
    expect(kept).toBe(-balanceOf(all, { kind: 'charge', account: 'tank' }) - gas)
  })
})

describe('a statement', () => {
  const contentFor = (appId: string) =>
    makeContent(world().database, { appId, from: new Date(0), until: new Date(4e12) })

  test('waits until its blocks are final, then equals the chain after the reorg, twice with the same bytes', async () => {
    const { appId, database } = world()
    expect(await contentFor(appId)).toBe('notFinal')
    await world().anvil.request('anvil_mine', ['0x30'])
    await world().round()
    const { accounts } = await verify(0n)
    const sumOf = async (id: string) => {
      const made = await contentFor(id)
      expect(await contentFor(id)).toEqual(made)
      if (typeof made === 'string') throw new Error(made)
      const { totals, lines } = JSON.parse(made.content)
      expect(totals).toHaveLength(1)
      expect(lines.length).toBeGreaterThan(0)
      const [{ operations, cost, rebate, usd, unpriced }] = totals
      expect(unpriced).toBe('0')
      // Each operation is rounded to the nearest millionth.
      const exact = (BigInt(cost) * 3_000_500_000n) / 10n ** 18n
      const off = BigInt(usd.replace('.', '')) - exact
      expect(off * 2n).toBeLessThanOrEqual(BigInt(operations) + 2n)
      expect(off * 2n).toBeGreaterThanOrEqual(-BigInt(operations) - 2n)
      expect(exact).toBeGreaterThan(0n)
      return { operations, cost: BigInt(cost), charge: BigInt(cost) + BigInt(rebate) }
    }
    const ofTanks = accounts.filter(
      ({ kind, holder }) =>
        kind === 'charges' && [...tanks.values()].some((t) => t.address === holder),
    )
    const own = await sumOf(appId)
    expect(own.charge).toBe(ofTanks.reduce((sum, { derived = 0n }) => sum + derived, 0n))
    expect(own.operations).toBe(String(ofTanks.reduce((sum, { entries }) => sum + entries, 0)))
    for (const [id, credited] of [
      [apps.shared, parseEther('0.4')],
      [apps.native, parseEther('0.5')],
    ] as const) {
      const credit = accounts.find(({ kind, holder }) => kind === 'credit' && holder === id)
      expect((await sumOf(id)).cost).toBe(credited - (credit?.derived ?? 0n))
    }
    expect(
      await sponsoredChains(database, { appId, from: new Date(0), until: new Date(4e12) }),
    ).toEqual([world().chainId])
    const nobody = await contentFor(await createApp(database))
    expect(typeof nobody === 'string' ? nobody : JSON.parse(nobody.content).lines).toEqual([])
  })
})
