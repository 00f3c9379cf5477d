import { type Address, type Hex, parseEther, parseGwei } from 'viem'
import { expect, test } from 'vitest'
import { greatest, sum } from '../../src/base/bigints.js'
import type { FeeAdvice } from '../../src/chain/fees.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Fees } from '../../src/erc4337/fees.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { insertTank } from '../../src/paymaster/ledger/tanks.js'
import { defaultTerms } from '../../src/paymaster/sponsorshipTerms.js'
import { forecastCost, type Rehearsal, type Rehearsed } from '../../src/records/rehearsalReport.js'
import { createRehearsals } from '../../src/service/rehearsals.js'
import { createRandom } from '../evm/random.js'
import { admitTokenPaid } from '../support/chain/payingOperations.js'
import { policiesOn } from '../support/database/policiesOn.js'
import { gethBinary } from '../support/nodes/startGeth.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { tokenTankChain } from '../support/tanks/tokenTankChain.js'
import { until } from '../support/until.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/*
 * A forecast by the rules of a fork, and what the node charges once it runs by them: operations of every version and
 * payer before the fork, their rehearsal, and operations of the same kinds behind it.
 */

const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }
/** Fees for sponsored operations: as advised, and where that is almost nothing what tanks allow. */
const allowed = ({ fast }: FeeAdvice): Fees => ({
  maxFeePerGas: greatest(fast.maxFeePerGas, defaultTerms.feeFloor),
  maxPriorityFeePerGas: greatest(fast.maxPriorityFeePerGas, defaultTerms.feeFloor / 2n),
})
const DEPOSIT = parseEther('50')
/** Ten thousandths by which a forecast may differ from the charge. */
const TOLERANCE = 50n

const world =
  gethBinary() === undefined
    ? undefined
    : useWorld({ definition: { rules: 'full', expectedBundleSize: 1 }, kind: 'amsterdam' })

// What runs it says where there is no geth.
test.skipIf(world === undefined)(
  'a forecast is within 0.5 % of what the node charges behind the fork',
  { timeout: 600_000 },
  async () => {
    const { chain, database, appId, parts, tester, heads, ...acts } = world!()
    const { engine } = chain
    const { activation } = engine.coming()!
    const ownEntryPoint = (wanted: Version) =>
      chain.entryPoints.find(({ version }) => version === wanted)!
    for (const version of VERSIONS) await acts.makeTank(appId, DEPOSIT, ownEntryPoint(version))
    const budget = (limit: bigint) => ({
      budgets: [{ per: 'app' as const, limit: { wei: limit.toString() }, window: 'day' as const }],
    })
    const { account_id } = await database
      .selectFrom('apps')
      .select('account_id')
      .where('id', '=', appId)
      .executeTakeFirstOrThrow()
    const terms = budget(DEPOSIT)
    const policies = policiesOn(database)
    const { policyId } = await policies.create(account_id, { appId, name: 'daily', terms })
    const tokenTanks = new Map<Version, Address>()
    for (const version of VERSIONS) {
      const tank = await tokenTankChain(acts.at(version)).createTokenTank(1, DEPOSIT)
      tokenTanks.set(version, tank)
      const address = ownEntryPoint(version).address
      const owned = { address: tank, owner: tank, signer: tank, signer_key: Buffer.from('none') }
      const place = { app_id: appId, chain_id: BigInt(acts.chainId), entry_point: address }
      await insertTank(database, { ...place, ...owned, kind: 'token' })
    }

    /** Sends one alone and resolves to its hash. */
    const included = async (admitted: Promise<Hex>): Promise<Hex> => {
      const hash = await admitted
      await until(async () => {
        await acts.round()
        await acts.settle()
        return (await acts.stateOf(hash)) === 'included'
      }, 60_000)
      return hash
    }
    const paysItself = async (
      version: Version,
      kind: 'deployed' | 'counterfactual' | 'delegated',
      name: string,
    ): Promise<Hex> => {
      const own = acts.at(version)
      const call = own.onTarget('write', BigInt(`0x${Buffer.from(name).toString('hex')}`), 1n)
      const drafted = { ...(await own.draft(kind, name, call)), ...fees }
      await own.deposit(drafted.sender, parseEther('0.1'))
      const gas = await acts.estimate(own.entryPoint, drafted)
      const { callGasLimit, verificationGasLimit, preVerificationGas } = gas
      const limits = { callGasLimit, verificationGasLimit, preVerificationGas }
      return acts.admit(await own.sign({ ...drafted, ...limits }, name), own.entryPoint)
    }
    const isSponsored = async (
      version: Version,
      kind: 'deployed' | 'counterfactual',
      name: string,
    ): Promise<Hex> => {
      const own = acts.at(version)
      const entryPoint = ownEntryPoint(version)
      const draft = {
        ...(await own.draft(kind, name)),
        ...unsetGas,
        ...allowed(await acts.services.fees(appId)),
      }
      const { decision, operation } = await acts.sponsor(acts.request(appId, draft, { entryPoint }))
      expect(decision.code).toBe('SPONSORED')
      return acts.admit(await own.sign(operation as Operation, name), entryPoint)
    }
    const random = createRandom(7_928)
    const paysTokens = async (version: Version): Promise<Hex> => {
      const tokens = tokenTankChain(acts.at(version))
      const tank = tokenTanks.get(version)!
      const user = await tokens.deployUser(tokens.tokens[0]!.address)
      const choice = { random, tokens, tank, user, fees, prices: ownEntryPoint(version) }
      return (await admitTokenPaid({ ...acts, chainId: acts.chainId }, choice)).hash
    }
    /** One operation of each kind, by its name. */
    const oneOfEach = async (when: string): Promise<ReadonlyMap<string, Hex>> => {
      const hashes = new Map<string, Hex>()
      for (const version of VERSIONS) {
        const kinds = {
          deployed: () => paysItself(version, 'deployed', `${when} 1`),
          counterfactual: () => paysItself(version, 'counterfactual', `${when} 2`),
          sponsored: () => isSponsored(version, 'deployed', `${when} 3`),
          'sponsored, counterfactual': () => isSponsored(version, 'counterfactual', `${when} 4`),
          'paid in tokens': () => paysTokens(version),
          ...(version >= '0.8' && {
            delegated: () => paysItself(version, 'delegated', `${when} 5`),
          }),
        }
        for (const [kind, admit] of Object.entries(kinds))
          hashes.set(`${kind}, v${version}`, await included(admit()))
      }
      return hashes
    }
    const rehearsals = createRehearsals(chain, parts)
    const rehearse = (): Promise<Rehearsal> =>
      rehearsals({
        fork: 'amsterdam',
        from: new Date(Date.now() - 3_600_000),
        until: new Date(Date.now() + 60_000),
        limit: 200,
        mostTime: 120_000,
      })
    const outcomeIn = ({ operations }: Rehearsal, hash: Hex): Rehearsed => {
      const found = operations.find((each) => each.hash === hash)
      expect(found?.outcome, hash).toBeDefined()
      return found!
    }

    // The first payment in tokens fills a slot of the tank's own.
    for (const version of VERSIONS) await included(paysTokens(version))
    const before = await oneOfEach('before')
    expect((await heads.refresh()).timestamp, 'the machine was too slow').toBeLessThan(activation)
    const forecast = await rehearse()
    expect(forecast.at).toEqual(new Date(activation * 1_000))

    expect(forecast.budgets).toEqual([])
    const ofPolicy = forecast.operations.filter((each) => each.policyId === policyId)
    const used = sum(ofPolicy.map(({ cost }) => cost))
    const scarce = { name: 'daily', terms: budget(used) }
    await policies.update(account_id, policyId, scarce)

    // The node has the state of its last 128 blocks.
    await tester.mine({ blocks: 130 })
    expect((await heads.refresh()).timestamp, 'too many blocks').toBeLessThan(activation)
    await acts.settle()
    const onNewest = await rehearse()
    const ofBudget = { policyId, policyName: 'daily', per: 'app', unit: 'wei', subject: appId }
    const later = sum(ofPolicy.map((each) => forecastCost(outcomeIn(onNewest, each.hash))!))
    expect(onNewest.budgets).toMatchObject([{ ...ofBudget, limit: used, used, forecast: later }])
    await policies.update(account_id, policyId, { name: 'daily', terms })

    await until(async () => {
      await tester.mine({ blocks: 1 })
      return (await heads.refresh()).timestamp >= activation
    }, 200_000)
    await until(async () => engine.forks().join() === 'amsterdam')
    const behind = await oneOfEach('behind')

    const errors = new Map<string, bigint>()
    const newer = new Map<string, bigint>()
    for (const [kind, hash] of before) {
      const { outcome, ...recorded } = outcomeIn(forecast, hash)
      const { actualGasUsed } = await acts.receipt(behind.get(kind)!)
      const difference = outcome!.gas! - actualGasUsed
      errors.set(kind, (difference * 10_000n) / actualGasUsed)
      expect(outcome!.isNewest).toBe(false)
      const newest = outcomeIn(onNewest, hash).outcome!
      expect(newest.isNewest).toBe(true)
      newer.set(kind, ((newest.gas! - outcome!.gas!) * 10_000n) / outcome!.gas!)
      // An account is so much new state that limits of before the fork, which near it are enough for both sides, show it.
      if (kind.includes('counterfactual')) expect(outcome!.gas).toBeGreaterThan(2n * recorded.gas)
    }
    const wrong = [...errors].filter(([, error]) => error > TOLERANCE || error < -TOLERANCE)
    expect(wrong, 'ten thousandths').toEqual([])
    // The newest state has the slots that an operation filled first; of the others nothing is different.
    const cheaper = [...newer].filter(([, difference]) => difference !== 0n)
    expect(cheaper.map(([kind]) => kind)).toEqual([
      'deployed, v0.6',
      'counterfactual, v0.6',
      'delegated, v0.8',
    ])
    for (const [kind, difference] of cheaper) expect(difference, kind).toBeLessThan(0n)

    const sponsored = forecast.spending.filter(({ paidBy }) => paidBy === 'sponsor')
    const ofSponsor = forecast.operations.filter(
      ({ paymaster, outcome }) => outcome !== undefined && BigInt(paymaster) > 0n,
    )
    for (const { policyId: payer, ...spending } of sponsored) {
      const own = ofSponsor.filter((each) => each.policyId === payer)
      const total = sum(own.map((each) => forecastCost(each)!))
      expect(spending).toMatchObject({ operations: BigInt(own.length), forecast: total })
      expect(spending.cost).toBeLessThan(total)
    }
    expect(sponsored.map((each) => each.policyId).sort()).toEqual([policyId, null].sort())
    expect(forecast.funds.length).toBe(2 * VERSIONS.length)
    // The test signs for token tanks itself, so that the ledger has spent nothing from them.
    const spent = forecast.funds.filter(({ now }) => now.days !== null)
    expect(spent.length).toBe(VERSIONS.length)
    for (const { available, forecast: later, now } of spent) {
      expect(available).toBeGreaterThan(0n)
      expect(later.daily > now.daily).toBe(true)
      expect(later.days!).toBeLessThan(now.days!)
    }
  },
)
