import type { Address, Hex } from 'viem'
import { greatest } from '../base/bigints.js'
import { ValidationRejectedError } from '../base/errors/operationErrors.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { TokenDefinition } from '../chain/definition/tokenDefinition.js'
import { delegateToHash } from '../chain/delegations.js'
import type { FeeAdvice } from '../chain/fees.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { Database } from '../db/database.js'
import type { Draft } from '../erc4337/draft.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import { noFees } from '../erc4337/fees.js'
import { estimatedDataGas } from '../gas/dataGas.js'
import type { DataPrice } from '../gas/dataPrice.js'
import type { EstimateOptions, Estimating, GasEstimate } from '../gas/estimateOperation.js'
import { widestOperation } from '../gas/placeholder.js'
import {
  type BundleShare,
  type ChargingChain,
  expectedShare,
  preVerificationGas,
} from '../gas/preVerificationGas.js'
import { findFund } from './ledger/funds.js'
import { findSignedLimits } from './ledger/signedLimits.js'
import { kindOfTank } from './ledger/tanks.js'
import {
  complete,
  type PaymasterStub,
  stubRange,
  tankLimits,
  tankStub,
  unsignedTankData,
  withPaymaster,
  withSignature,
} from './sponsoredDraft.js'
import { createPayers } from './tank/payer.js'
import { tankVerificationGas } from './tank/tankGas.js'
import { unsignedTokenData } from './token/tokenCase.js'
import { tokenVerificationGas } from './token/tokenCharge.js'
import { parseTokenData } from './tokenData.js'

type Advice = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly node: NodeClient
  readonly definition: Pick<ChainDefinition, 'chainId' | 'tokens'> & ChargingChain
  /** The size of bundle that estimates for the EntryPoint use. */
  bundleSize(entryPoint: EntryPoint): Promise<number>
  /** The advice of the chain. */
  fees(): Promise<FeeAdvice>
  /** The price of data at the head; undefined on a chain that has none. */
  dataPrice(): Promise<DataPrice | undefined>
  readonly estimate: Estimating
}

/** The fees and limits that an app's clients are advised to use, before they ask for sponsorship. */
export type AppFees = {
  fees(appId: string): Promise<FeeAdvice>
  /**
   * The chain's estimate, with what the app's tank will need: extra gas for one that is not in the
   * operation yet, and for one that is, the limits that it signs.
   */
  estimate(entryPoint: EntryPoint, draft: Draft, options: AppEstimateOptions): Promise<GasEstimate>
}

/** For whom an operation is estimated, on what state. */
export type AppEstimateOptions = EstimateOptions & { readonly appId: string }

/**
 * The chain's advice, but fees of 0 for an app in mode `native`: there we pay for its operations
 * without a paymaster, and their own fees must be 0. Fees that a client sets itself stay.
 */
export function createAppFees(advice: Advice): AppFees {
  const { database, definition, fees, estimate } = advice
  const payers = createPayers(advice)
  const isNative = async (appId: string): Promise<boolean> =>
    (await findFund(database, appId, definition.chainId))?.mode === 'native'
  const estimateForApp: AppFees['estimate'] = async (entryPoint, draft, options) => {
    const { appId } = options
    if (draft.paymaster !== undefined) {
      const unsigned = await beforeSigning(advice, entryPoint, draft)
      const measured = await estimate(entryPoint, unsigned, options)
      return unsigned === draft ? measured : asSigned(advice, entryPoint, draft, measured, appId)
    }
    const { payer } = await payers.findPayer(appId, entryPoint)
    if (payer === undefined) return estimate(entryPoint, draft, options)
    if (payer.tank === undefined) return estimate(entryPoint, withoutFees(draft), options)
    const measured = await estimate(entryPoint, draft, options)
    // A gas tank returns no context.
    const bundleSize = await advice.bundleSize(entryPoint)
    const share = { ...expectedShare(definition, bundleSize), contextSize: 0 }
    const price = await advice.dataPrice()
    return withTankRoom(measured, entryPoint, draft, payer.tank.address, share, price)
  }
  return {
    fees: async (appId) =>
      (await isNative(appId)) ? { slow: noFees, standard: noFees, fast: noFees } : fees(),
    estimate: async (entryPoint, draft, options) => {
      const estimateSigned = (signed: Draft) => estimateForApp(entryPoint, signed, options)
      if (draft.signature !== '0x') return estimateSigned(draft)
      // An account that refuses the most common dummy may ask for none at all.
      return estimateSigned(withSignature(draft)).catch((error: unknown) =>
        isRefusedSignature(error)
          ? estimateSigned(draft).catch(explainEmptySignature)
          : Promise.reject(error),
      )
    },
  }
}

/** Whether the account's own validation reverted. */
function isRefusedSignature(error: unknown): error is ValidationRejectedError {
  return error instanceof ValidationRejectedError && error.rule === 'AA23'
}

function explainEmptySignature(error: unknown): never {
  if (!isRefusedSignature(error)) throw error
  const message = `${error.message}. The operation has no signature, and one of 65 bytes does not fit the account either: give a dummy of the length and form that it expects (getStubSignature of its SDK)`
  throw new ValidationRejectedError({
    message,
    rule: error.rule,
    revertData: error.data?.revertData as Hex | undefined,
  })
}

function withoutFees(draft: Draft): Draft {
  const { maxFeePerGas, maxPriorityFeePerGas } = draft
  const bidsOwn = maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined
  return bidsOwn ? draft : { ...draft, ...noFees }
}

/**
 * The draft as a tank of ours, where its paymaster is one, estimates it before it signs: with the limits that it will
 * sign, and a signature whose bytes cost the most. So an estimate after the signature is that of before.
 */
async function beforeSigning(
  { database, definition: { chainId, tokens } }: Advice,
  entryPoint: EntryPoint,
  draft: Draft,
): Promise<Draft> {
  const { paymaster, paymasterData } = draft
  const kind = paymaster && (await kindOfTank(database, chainId, entryPoint.address, paymaster))
  if (kind === undefined) return draft
  const [unsigned, limits] =
    kind === 'gas'
      ? [unsignedTankData(paymasterData), tankLimits(entryPoint, draft)]
      : [unsignedTokenData(paymasterData), tokenTankLimits(entryPoint, draft, tokens)]
  const estimated = { ...draft, paymasterData: unsigned }
  const isLimited = entryPoint.hasPaymasterLimits && limits !== undefined
  return isLimited ? withTankLimits(estimated, limits) : estimated
}

/**
 * The estimate with what the tank has signed for the operation already, if it has: any other limit is refused (AA34),
 * and the share of a bundle and the price of data may have moved since.
 */
async function asSigned(
  { database, definition: { chainId }, node }: Advice,
  entryPoint: EntryPoint,
  draft: Draft,
  estimate: GasEstimate,
  appId: string,
): Promise<GasEstimate> {
  const delegate = await delegateToHash(node, draft)
  const question = { appId, chainId, entryPoint, delegate }
  const signed = await findSignedLimits(database, question, complete(draft, estimate))
  if (signed === undefined) return estimate
  const { paymasterVerificationGasLimit, paymasterPostOpGasLimit, ...shared } = signed
  const ofPaymaster = { paymasterVerificationGasLimit, paymasterPostOpGasLimit }
  return { ...estimate, ...shared, ...(entryPoint.hasPaymasterLimits && ofPaymaster) }
}

/**
 * Gas: three cold slots. An account that pays for itself reads some in validation (a Safe its modules and
 * guards) that its call then meets warm; where a tank pays, the call is the first to read them.
 */
const COLD_SLOTS_GAS = 6_500n
/** A limit that is found by search may be a 64th above the smallest, so two of them differ by as much. */
const SEARCH_SHARE = 64n

/** What a new deposit of the sender costs is in its own estimate: it is no part of what a tank costs more, or less. */
const depositKnown = { authority: 'absent', hasDeposit: true } as const

/**
 * The estimate of an operation without a paymaster, with extra gas for a tank that may pay for it later:
 * gas for the bytes of the tank's data, for a call that meets the account cold, and on v0.6 for the
 * tank's validation, which shares a limit with the account's. Some clients place the tank's data in their operation and keep the limits of the estimate
 * that they made before; without the extra gas the tank would have to sign higher ones (AA34).
 */
function withTankRoom(
  estimate: GasEstimate,
  entryPoint: EntryPoint,
  draft: Draft,
  tank: Address,
  share: Omit<BundleShare, 'verificationGasUsed' | 'dataGas'>,
  dataPrice: DataPrice | undefined,
): GasEstimate {
  const stub = tankStub(tank, stubRange, entryPoint, draft, false)
  const { hasPaymasterLimits } = entryPoint
  const { callGasLimit: ownCall, verificationGasLimit: ownLimit } = estimate
  const raised = {
    callGasLimit: ownCall + ownCall / SEARCH_SHARE + COLD_SLOTS_GAS,
    verificationGasLimit: hasPaymasterLimits
      ? ownLimit
      : ownLimit + tankVerificationGas(entryPoint, draft),
  }
  const calldata = (paid: Draft, limits: GasEstimate, signed: Partial<GasEstimate>): bigint => {
    const op = complete(paid, limits)
    const { bundleSize } = share
    // As if no gas counted towards the calldata floor, under which the bytes cost most.
    return preVerificationGas(entryPoint, widestOperation(op), {
      ...share,
      limited: complete(paid, { ...limits, ...signed }),
      verificationGasUsed: 0n,
      before: depositKnown,
      dataGas: estimatedDataGas(entryPoint, { op, fees: estimate, bundleSize }, dataPrice),
    })
  }
  const sponsored = calldata(withPaymaster(draft, stub), { ...estimate, ...stub }, raised)
  const extra = sponsored - calldata(draft, estimate, {})
  const { preVerificationBounds: bounds } = estimate
  return {
    ...estimate,
    ...raised,
    preVerificationGas: estimate.preVerificationGas + extra,
    preVerificationBounds: bounds && { least: bounds.least + extra, most: bounds.most + extra },
  }
}

type TankLimits = Pick<PaymasterStub, 'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit'>

/**
 * The draft, whose paymaster is a tank of ours, with limits for it that are not below those that the tank
 * signs (v0.7 and later): clients that keep the limits of their estimate would else send others (AA34).
 */
function withTankLimits(draft: Draft, least: TankLimits): Draft {
  return {
    ...draft,
    paymasterVerificationGasLimit: greatest(
      draft.paymasterVerificationGasLimit ?? 0n,
      least.paymasterVerificationGasLimit,
    ),
    paymasterPostOpGasLimit: greatest(
      draft.paymasterPostOpGasLimit ?? 0n,
      least.paymasterPostOpGasLimit,
    ),
  }
}

/** The limits with which a token tank signs data like that of the draft; undefined for other data. */
function tokenTankLimits(
  entryPoint: EntryPoint,
  draft: Draft,
  tokens: readonly TokenDefinition[],
): TankLimits | undefined {
  const quote = parseTokenData(draft.paymasterData)?.quote
  const token = tokens.find(({ address }) => address === quote?.token)
  if (quote === undefined || token === undefined) return undefined
  return {
    paymasterVerificationGasLimit: tokenVerificationGas(
      entryPoint,
      draft,
      quote.mode,
      token.extraCallGas,
    ),
    paymasterPostOpGasLimit: quote.postOpGas,
  }
}
