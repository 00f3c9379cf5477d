import type { Address } from 'viem'
import type { Refusal } from '../../base/errors/catalogue.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { getCode } from '../../chain/nodeReads.js'
import type { Database } from '../../db/database.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import { findFund, type StoredFund } from '../ledger/funds.js'
import { findTank, type StoredTank } from '../ledger/tanks.js'
import type { PolicyClaim } from '../policy/decideReservation.js'
import { canSign } from './signForTank.js'

/** The payer of an app's operations on one EntryPoint. */
export type SponsorshipPayer = {
  /** undefined = there is no paymaster: the executor pays, for an operation without fees. */
  readonly tank: StoredTank | undefined
  /**
   * The app's prepaid credit, where the tank is not its own; undefined = it pays from its own tank.
   */
  readonly credit: StoredFund | undefined
}

/** A payer, or the reason why there is none. */
type PayerOrRefusal =
  | { readonly payer: SponsorshipPayer; readonly refusal?: undefined }
  | { readonly payer?: undefined; readonly refusal: Refusal }

type PayerContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly node: NodeClient
  readonly definition: Pick<ChainDefinition, 'chainId'>
}

/** Finds payers, and remembers which tanks are deployed. */
export function createPayers({ database, masterKey, node, definition: { chainId } }: PayerContext) {
  const deployed = new Set<Address>()

  const isDeployed = async (tank: Address): Promise<boolean> => {
    if (deployed.has(tank)) return true
    const hasCode = (await getCode(node, tank)) !== '0x'
    if (hasCode) deployed.add(tank)
    return hasCode
  }

  /** The payer of an app, by the mode of its fund. */
  const findPayer = async (appId: string, entryPoint: EntryPoint): Promise<PayerOrRefusal> => {
    const tankOf = (owner: string | null) =>
      findTank(database, owner, chainId, entryPoint.address, 'gas')
    const [fund, ownTank] = await Promise.all([findFund(database, appId, chainId), tankOf(appId)])
    if (fund?.mode === 'native') return { payer: { tank: undefined, credit: fund } }
    const credit = fund?.mode === 'shared' ? fund : undefined
    const tank = credit === undefined ? ownTank : await tankOf(null)
    if (tank === undefined) {
      return { refusal: (credit === undefined ? noTank : noSharedTank)(chainId, entryPoint) }
    }
    if (!canSign(masterKey, tank)) return { refusal: tankSignerLost(tank.address) }
    const ready = await isDeployed(tank.address)
    return ready ? { payer: { tank, credit } } : { refusal: tankNotDeployed(tank.address) }
  }

  /** The app's token tank, else the operator's; undefined = neither is on the chain and can sign. */
  const findTokenTank = async (
    appId: string,
    { address }: EntryPoint,
  ): Promise<StoredTank | undefined> => {
    for (const owner of [appId, null]) {
      const tank = await findTank(database, owner, chainId, address, 'token')
      if (tank === undefined || !canSign(masterKey, tank)) continue
      if (await isDeployed(tank.address)) return tank
    }
    return undefined
  }

  return { findPayer, findTokenTank }
}

export type Payers = ReturnType<typeof createPayers>

/** The part of a shared tank that one app counts as available. */
const SHARED_PART = 2n

/**
 * wei that an app can spend on a chain: the deposit of its own tank, or the unspent part of its credit, with a
 * shared tank no more than half of that tank's deposit.
 * @param spent wei of the credit
 */
export function availableTo(
  { tank, credit }: SponsorshipPayer,
  deposit: bigint | undefined,
  spent: bigint,
): bigint {
  const reachable = tank?.app_id === null ? (deposit ?? 0n) / SHARED_PART : deposit
  if (credit === undefined) return reachable ?? 0n
  const unspent = credit.credited - spent
  return reachable === undefined || unspent < reachable ? unspent : reachable
}

/** The counter of the ledger that holds how much of a credit is used. */
export const creditCounter = { budget: 'credit', subject: '', bucket: 0 } as const

/**
 * The claim of `maxCost` wei on a credit. To the ledger a credit is a budget that never begins
 * anew, whose limit is all that was ever credited; so it reserves, settles, releases and undoes as
 * for any budget.
 */
export function claimCredit({ id, credited }: StoredFund, maxCost: bigint): PolicyClaim {
  return {
    policyId: id,
    claims: [
      {
        policyId: id,
        policyName: 'credit',
        budget: creditCounter.budget,
        subject: creditCounter.subject,
        unit: 'wei',
        limit: credited,
        amount: maxCost,
        price: undefined,
        bucket: creditCounter.bucket,
        oldest: creditCounter.bucket,
        ends: undefined,
      },
    ],
  }
}

function noTank(chainId: number, { version }: EntryPoint): Refusal {
  return {
    code: 'NO_TANK',
    message: `The app has no gas tank on chain ${chainId} for EntryPoint ${version}. The operator creates one with purser tank deposit.`,
  }
}

function tankNotDeployed(tank: Address): Refusal {
  return {
    code: 'TANK_NOT_DEPLOYED',
    message: `The app's gas tank ${tank} is not on the chain yet. The operator deploys it with purser tank deposit.`,
  }
}

function tankSignerLost(tank: Address): Refusal {
  return {
    code: 'TANK_SIGNER_LOST',
    message: `The gas tank ${tank} cannot sign, because the key of its signer cannot be decrypted. The operator finds the remedy with purser keys check.`,
  }
}

/** All in wei; `locked` is the sum that other live sponsorships may cost. */
export function tankEmpty(
  tank: Address,
  { deposit, locked, maxCost }: { deposit: bigint; locked: bigint; maxCost: bigint },
): Refusal {
  return {
    code: 'TANK_EMPTY',
    message: `The operation may cost ${maxCost} wei. The app's gas tank ${tank} has ${deposit} wei, of which ${locked} wei are reserved for other sponsored operations. Deposit more.`,
  }
}

function noSharedTank(chainId: number, { version }: EntryPoint): Refusal {
  return {
    code: 'NO_TANK',
    message: `The app pays by credit, and the operator's shared gas tank does not exist on chain ${chainId} for EntryPoint ${version}. The operator creates it with purser tank deposit --shared.`,
  }
}

/** All in wei; `used` is spent, or reserved for other sponsored operations. */
export function creditEmpty({
  credited,
  used,
  maxCost,
}: {
  credited: bigint
  used: bigint
  maxCost: bigint
}): Refusal {
  return {
    code: 'CREDIT_EMPTY',
    message: `The operation may cost ${maxCost} wei. Of the app's credit of ${credited} wei, ${used} wei are spent or reserved for other sponsored operations. Buy more credit.`,
  }
}
