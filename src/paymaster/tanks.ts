import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { encodeFunctionData, formatEther } from 'viem/utils'
import { SignerLostError, TankError } from '../base/errors/sponsorshipErrors.js'
import { abi as tankAbi } from '../chain/contracts/generated/Tank06.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getCode } from '../chain/nodeReads.js'
import { sendTransaction } from '../chain/sendTransaction.js'
import type { ExecutorSigner } from '../chain/signing/executorTransaction.js'
import type { Database } from '../db/database.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import { encryptSecret } from '../tenants/secrets.js'
import { depositOf, depositTo } from './entryPointDeposit.js'
import { alertSince } from './ledger/alerts.js'
import type { TankKind } from './ledger/tanks.js'
import { findTank, insertTank, replaceTank, type StoredTank } from './ledger/tanks.js'
import type { Runway } from './runway.js'
import { canSign, SIGNER_PURPOSE } from './tank/signForTank.js'
import { type TankParts, tankAddress } from './tank/tankAddress.js'
import { tankLevel } from './tankLevel.js'
import { createTankSteps } from './tankSteps.js'

export type Tank = {
  /** null = the operator's, shared by apps with credit. */
  readonly appId: string | null
  readonly chainId: number
  readonly entryPoint: Address
  readonly kind: TankKind
  readonly address: Address
  /** The address that may withdraw. */
  readonly owner: Address
  /** The address that signs sponsorships; Purser holds its key. */
  readonly signer: Address
}

/** A tank as the chain has it. */
type TankState = Tank & {
  readonly deployed: boolean
  /** wei in the EntryPoint */
  readonly deposit: bigint
  /** wei of the deposit that are reserved for sponsorships */
  readonly locked: bigint
  readonly runway: Runway
  /** Whether the alert is on. */
  readonly isLow: boolean
  /** Whether the master key does not decrypt the signer's key: then nothing can be sponsored from the tank. */
  readonly isSignerLost: boolean
}

type TanksContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly node: NodeClient
  readonly definition: Pick<ChainDefinition, 'chainId' | 'pollInterval' | 'tankFactory'>
}

/**
 * The tanks of one chain, for an operator's commands. A command that sends a transaction waits
 * until it is in a block. Every command throws TankError for a mistake that the operator can
 * correct.
 */
export type Tanks = {
  /**
   * The app's tank (null = the shared one). Where there is none yet, it is registered with a new
   * signer, and only then `owner` counts; its address can be funded from now on. Of kind `gas` by
   * default. Throws TankError for a tank whose signer is lost: money must not go there.
   */
  ensure(
    appId: string | null,
    entryPoint: EntryPoint,
    owner: Address,
    kind?: TankKind,
  ): Promise<Tank>
  /**
   * Deploys the tank's contract, and the code that it runs, where missing. Any funded key will do.
   * @returns the transaction that made the tank; undefined = it was there
   */
  deploy(tank: Tank, entryPoint: EntryPoint, payer: ExecutorSigner): Promise<Hex | undefined>
  /** The tank as it is now; undefined = there is none. */
  show(
    appId: string | null,
    entryPoint: EntryPoint,
    kind?: TankKind,
  ): Promise<TankState | undefined>
  /**
   * A tank with a new signer in place of one whose signer is lost and whose deposit is withdrawn. The
   * signer is part of a tank's address, so it is another contract.
   */
  replace(tank: TankState, entryPoint: EntryPoint): Promise<Tank>
  /** Pays `wei` into the tank's deposit. */
  deposit(tank: Tank, wei: bigint, payer: ExecutorSigner): Promise<Hex>
  /**
   * Moves `wei` of the deposit to `to`, of which at least `kept` wei must stay. `owner` must be
   * the tank's.
   */
  withdraw(tank: Tank, to: Address, wei: bigint, kept: bigint, owner: ExecutorSigner): Promise<Hex>
}

export function createTanks(context: TanksContext): Tanks {
  const { database, masterKey, node, definition } = context
  const { chainId } = definition

  const has = async (address: Address): Promise<boolean> => (await getCode(node, address)) !== '0x'
  const steps = createTankSteps(context)

  return {
    async ensure(appId, entryPoint, owner, kind = 'gas') {
      const known = await findTank(database, appId, chainId, entryPoint.address, kind)
      if (known !== undefined && !canSign(masterKey, known)) throw new SignerLostError(known)
      return toTank(known ?? (await registerTank(context, { appId, entryPoint, owner, kind })))
    },

    async replace(tank, entryPoint) {
      requireReplaceable(tank)
      const made = newSigner(context, entryPoint, tank.owner, tank.kind)
      return toTank(await replaceTank(database, tank, made))
    },

    async deploy(tank, entryPoint, payer) {
      let hash: Hex | undefined
      for (const { to, data } of await steps({ ...tank, version: entryPoint.version }))
        hash = (await sendTransaction(context, payer, { to, data })).transactionHash
      return hash
    },

    async show(appId, entryPoint, kind = 'gas') {
      const stored = await findTank(database, appId, chainId, entryPoint.address, kind)
      if (stored === undefined) return undefined
      const [deployed, level, since] = await Promise.all([
        has(stored.address),
        tankLevel({ database, node, chainId }, stored),
        alertSince(database, stored.id),
      ])
      const isSignerLost = !canSign(masterKey, stored)
      return { ...toTank(stored), deployed, ...level, isLow: since !== undefined, isSignerLost }
    },

    async deposit(tank, wei, payer) {
      const data = depositTo(tank.address)
      const request = { to: tank.entryPoint, data, value: wei }
      return (await sendTransaction(context, payer, request)).transactionHash
    },

    async withdraw(tank, to, wei, kept, owner) {
      if (owner.address !== tank.owner) {
        throw new TankError(
          `Only the owner ${tank.owner} may withdraw; the key is of ${owner.address}.`,
        )
      }
      requireFree(wei, await depositOf(node, tank.entryPoint, tank.address), kept)
      const data = encodeFunctionData({ abi: tankAbi, functionName: 'withdrawTo', args: [to, wei] })
      return (await sendTransaction(context, owner, { to: tank.address, data })).transactionHash
    },
  }
}

type NewTankOf = {
  /** null = the operator's */
  readonly appId: string | null
  readonly entryPoint: EntryPoint
  readonly owner: Address
  readonly kind: TankKind
}

/** Registers a tank with a new signer, or gives the one that is there: its address can be funded from now on. */
export function registerTank(
  context: Omit<TanksContext, 'node'>,
  { appId, entryPoint, owner, kind }: NewTankOf,
): Promise<StoredTank> {
  return insertTank(context.database, {
    app_id: appId,
    chain_id: BigInt(context.definition.chainId),
    entry_point: entryPoint.address,
    kind,
    ...newSigner(context, entryPoint, owner, kind),
  })
}

/** Throws TankError for a tank that works, or whose deposit would be left behind. */
function requireReplaceable({ address, owner, deposit, isSignerLost }: TankState): void {
  if (!isSignerLost)
    throw new TankError(`The signer of tank ${address} is there: nothing is replaced.`)
  if (deposit > 0n)
    throw new TankError(
      `Tank ${address} still has ${formatEther(deposit)} of the chain's coin deposited, which only its owner ${owner} can withdraw: run \`purser tank withdraw\` first.`,
    )
}

/** Throws TankError unless `wei` of the deposit may leave while `kept` wei of it stay. */
function requireFree(wei: bigint, deposit: bigint, kept: bigint): void {
  if (wei > deposit)
    throw new TankError(
      `The tank has ${formatEther(deposit)} of the chain's coin deposited, less than ${formatEther(wei)}.`,
    )
  if (wei > deposit - kept) {
    const free = deposit > kept ? deposit - kept : 0n
    throw new TankError(
      `Signed sponsorships may still take ${formatEther(kept)} of the ${formatEther(deposit)} deposited: ${formatEther(free)} is free. Wait until they end, or withdraw with --reserved what was promised too.`,
    )
  }
}

/** Contract, address, owner and signer of a new tank. */
function newSigner(
  { masterKey, definition: { tankFactory } }: Omit<TanksContext, 'node' | 'database'>,
  entryPoint: EntryPoint,
  owner: Address,
  kind: TankKind,
) {
  const key = generatePrivateKey()
  const parts: TankParts = {
    kind,
    version: entryPoint.version,
    entryPoint: entryPoint.address,
    owner: owner.toLowerCase() as Address,
    signer: privateKeyToAddress(key).toLowerCase() as Address,
  }
  return {
    address: tankAddress(tankFactory, parts),
    owner: parts.owner,
    signer: parts.signer,
    signer_key: encryptSecret(masterKey, SIGNER_PURPOSE, key),
  }
}

function toTank(stored: StoredTank): Tank {
  return {
    appId: stored.app_id,
    chainId: Number(stored.chain_id),
    entryPoint: stored.entry_point,
    kind: stored.kind,
    address: stored.address,
    owner: stored.owner,
    signer: stored.signer,
  }
}
