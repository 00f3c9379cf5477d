import { type Selectable, sql } from 'kysely'
import type { Hex } from 'viem'
import { smallest } from '../../base/bigints.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import type { Transaction } from '../../db/database.js'
import type { Schema } from '../../db/schema.generated.js'
import { storedOperation } from '../../db/storedOperation.js'
import { minedUnusedGas } from '../../erc4337/charges.js'
import { zeroAddress } from '../../erc4337/encoding/constants.js'
import type { EntryPoint, Included, ValidationUse } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { bundleCharges, sharedGas } from '../../gas/preVerificationGas.js'
import { storedValidation } from '../../mempool/pool/operations.js'
import { grantedFees } from '../../paymaster/ledger/grants.js'
import type { SettledInclusion } from '../../paymaster/ledger/ledger.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { Surplus } from '../outbox/surpluses.js'

/** The charge for one operation of a bundle. */
type Charge = {
  /** Gas that the EntryPoint charged, or would have charged an operation without fees. */
  readonly gas: bigint
  /** wei per gas */
  readonly price: bigint
  /** The number of operations that its preVerificationGas shares a bundle with; undefined = it is not known. */
  readonly sharedBy: number | undefined
}

/**
 * The wei of each operation's charge that are beyond its share of the bundle's fixed costs: it paid for a bundle of
 * `sharedBy`, and this one had as many as there are charges. Together never more than the bundle was charged above
 * its `cost` (wei), so that what is left still pays for it. Of `shared` gas are the fixed costs.
 */
export function rebatesOf(
  charges: readonly Charge[],
  { shared, cost }: { readonly shared: bigint; readonly cost: bigint },
): readonly bigint[] {
  const size = BigInt(charges.length)
  const beyond = charges.map(({ price, sharedBy }) => {
    const expected = BigInt(sharedBy ?? charges.length)
    return expected < size ? (shared * (size - expected) * price) / (expected * size) : 0n
  })
  const surplus = charges.reduce((sum, { gas, price }) => sum + gas * price, -cost)
  const total = beyond.reduce((sum, each) => sum + each, 0n)
  if (surplus <= 0n) return beyond.map(() => 0n)
  return total <= surplus ? beyond : beyond.map((each) => (each * surplus) / total)
}

type OurBundle = {
  readonly receipt: TransactionReceipt
  /** wei that the transaction cost: gas, and what the chain took for data */
  readonly cost: bigint
}

/**
 * The inclusions with their cost to the sponsor, in wei. Where a tank of the app's own pays, that is the charge of the
 * EntryPoint. An operation that was granted to have no fees is not charged there: our executor paid its gas at the
 * price of the bundle, so that is the cost, up to the granted price. A payer by credit, for the operator's tank or
 * for no fees, gets the rebate of our bundle: both the tank and the executor are the operator's. What
 * a bundle of others took is the cost where a tank paid, and nothing else is. What our bundles charged an app's own tank
 * beyond its share stands in `surpluses`: it goes back by a transaction. The part of a cost
 * that was for unused gas is shown only.
 */
export async function withSponsorCosts(
  trx: Transaction,
  { definition, entryPoints }: Pick<BundlingContext, 'definition' | 'entryPoints'>,
  included: readonly Included[],
  ourBundles: ReadonlyMap<Hex, OurBundle>,
): Promise<{ readonly priced: SettledInclusion[]; readonly surpluses: readonly Surplus[] }> {
  const ours = included.filter(({ outcome }) => ourBundles.has(outcome.event.transactionHash))
  const hashes = included.map(({ outcome }) => outcome.userOpHash)
  const granted = await grantedFees(
    trx,
    definition.chainId,
    ours.filter(isFree).map(({ outcome }) => outcome.userOpHash),
  )
  const isSponsored = included.some(
    (each) => isFree(each) || each.outcome.paymaster !== zeroAddress,
  )
  const known = await readKnown(trx, definition.chainId, isSponsored ? hashes : [])
  const costs = new Map<Hex, Pick<SettledInclusion, 'cost' | 'rebate'>>()
  const surpluses = new Map<string, Surplus>()
  for (const [transactionHash, { receipt, cost }] of ourBundles) {
    const entryPoint = entryPoints.find(({ address }) => address === receipt.to)
    // Those of a bundle for another EntryPoint inside a call were paid to somebody else.
    const carried = ours.filter(
      ({ entryPoint: address, outcome }) =>
        address === receipt.to && outcome.event.transactionHash === transactionHash,
    )
    if (entryPoint === undefined) continue
    const charges = carried.map(({ outcome }): Charge => {
      const { userOpHash, actualGasUsed: gas, actualGasCost } = outcome
      const most = granted.get(userOpHash)
      const price =
        most === undefined ? actualGasCost / (gas || 1n) : smallest(receipt.effectiveGasPrice, most)
      return { gas, price, sharedBy: known.operations.get(userOpHash)?.sharedBy }
    })
    const shared = BigInt(sharedGas(entryPoint, bundleCharges(definition)))
    const rebates = rebatesOf(charges, { shared, cost })
    for (const [at, { outcome }] of carried.entries()) {
      const { userOpHash, paymaster: tank, actualGasCost, event } = outcome
      const { gas, price } = charges[at] ?? { gas: 0n, price: 0n }
      const isGranted = granted.has(userOpHash)
      const rebate = rebates[at] ?? 0n
      const name = `${entryPoint.address} ${tank}`
      if (known.ownTanks.has(name) && rebate > 0n) {
        const amount = rebate + (surpluses.get(transactionHash + name)?.amount ?? 0n)
        const { blockNumber } = event
        const surplus = {
          transactionHash,
          entryPoint: entryPoint.address,
          tank,
          blockNumber,
          amount,
        }
        surpluses.set(transactionHash + name, surplus)
      }
      if (!isGranted && !known.sharedTanks.has(name)) continue
      costs.set(userOpHash, { cost: (isGranted ? gas * price : actualGasCost) - rebate, rebate })
    }
  }
  const priced = included.map((each) => {
    const { userOpHash } = each.outcome
    const settled = { ...each, ...costs.get(userOpHash) }
    const entryPoint = entryPoints.find(({ address }) => address === each.entryPoint)
    return { ...settled, wasted: wastedOf(entryPoint, settled, known.operations.get(userOpHash)) }
  })
  return { priced, surpluses: [...surpluses.values()] }
}

/** The wei of an inclusion's cost that are for unused gas; undefined where its validation is not known. */
function wastedOf(
  entryPoint: EntryPoint | undefined,
  { outcome, cost = outcome.actualGasCost, rebate = 0n }: SettledInclusion,
  known: KnownOperation | undefined,
): bigint | undefined {
  if (entryPoint === undefined || known?.validated === undefined) return undefined
  const { actualGasUsed } = outcome
  const gas = minedUnusedGas(entryPoint, known.operation, known.validated, actualGasUsed)
  return smallest(cost, (gas * (cost + rebate)) / (actualGasUsed || 1n))
}

function isFree({ outcome: { paymaster, actualGasCost } }: Included): boolean {
  return paymaster === zeroAddress && actualGasCost === 0n
}

type KnownOperation = {
  readonly sharedBy: number
  readonly operation: Operation
  /** Undefined where it was taken in without validation. */
  readonly validated: ValidationUse | undefined
}

/** These operations as far as we stored them, and the tanks of the operator and of apps by EntryPoint and address. */
async function readKnown(trx: Transaction, chainId: number, hashes: readonly Hex[]) {
  if (hashes.length === 0)
    return {
      operations: new Map<Hex, KnownOperation>(),
      sharedTanks: new Set(),
      ownTanks: new Set(),
    }
  const { rows } = await sql<
    Pick<Selectable<Schema['operations']>, 'hash' | 'shared_by' | 'operation' | 'first_validation'>
  >`select hash, shared_by, operation, first_validation from operations
    where chain_id = ${chainId} and hash = any(${hashes}::text[])`.execute(trx)
  const operations = new Map(
    rows.map(({ hash, shared_by: sharedBy, operation, first_validation }) => [
      hash,
      {
        sharedBy,
        operation: storedOperation(operation),
        validated: storedValidation(first_validation),
      },
    ]),
  )
  const { rows: tanks } = await sql<{ name: string; isShared: boolean }>`
    select entry_point || ' ' || address as name, app_id is null as "isShared" from tanks
    where chain_id = ${chainId} and kind = 'gas'`.execute(trx)
  const namesOf = (isShared: boolean) =>
    new Set(tanks.filter((tank) => tank.isShared === isShared).map(({ name }) => name))
  return { operations, sharedTanks: namesOf(true), ownTanks: namesOf(false) }
}
