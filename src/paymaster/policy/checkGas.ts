import { greatest } from '../../base/bigints.js'
import type { Refusal } from '../../base/errors/catalogue.js'
import type { Operation } from '../../erc4337/operation.js'
import { type GasEstimate, preVerificationBounds } from '../../gas/estimateOperation.js'

/** The gas limits that are to be signed. */
export type RequestedGas = {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  /** 0 where the version has no such field (v0.6). */
  readonly paymasterVerificationGasLimit: bigint
  readonly preVerificationGas: bigint
  /** Gas that the operation may use inside a bundle (EntryPoint.bundleGas). */
  readonly bundleGas: bigint
}

/** The chain's bounds on gas. */
type GasLimits = {
  readonly maxVerificationGas: bigint
  /** Gas of one bundle transaction. */
  readonly maxBundleGas: bigint
}

/** Our own estimate of the same operation. */
type EstimatedGas = Pick<
  GasEstimate,
  | 'callGasLimit'
  | 'verificationGasLimit'
  | 'preVerificationGas'
  | 'preVerificationBounds'
  | 'paymasterVerificationGasLimit'
>

/**
 * Percent of our estimate, and gas beyond, that a limit may have. From v0.7 on a tenth of the call gas
 * that is left over is charged, and all of a prefund is locked. Clients add 10 to 20 % to estimates, or have
 * fixed limits (userop.js: 210,000 for verification).
 */
const LIMIT_PERCENT = 150n
const LIMIT_SLACK = 200_000n
/**
 * Gas of verification that any operation may have: no EntryPoint charges what is left over, and clients of passkeys cannot
 * know their need before the signature (viem sets 800,000, Circle 1,500,000).
 */
export const VERIFICATION_FLOOR = 2_000_000n
/** Percent of the highest preVerificationGas that an estimate of the last minutes may have had, which the bundler gets in full, used or not. */
const PRE_VERIFICATION_PERCENT = 125n

/**
 * The call gas that a tank signs for a sender without an included operation. An account that burns gas is estimated
 * honestly, and the bundler of its operation keeps the tip of all of it; a deployment of a usual contract fits.
 */
const NEW_SENDER_CALL_GAS = 3_000_000n

/** The refusal of more call gas than a sender without an included operation may have. */
export async function checkCallGas(
  { sender, callGasLimit }: Pick<Operation, 'sender' | 'callGasLimit'>,
  hasHistory: () => Promise<boolean>,
): Promise<Refusal | undefined> {
  if (callGasLimit <= NEW_SENDER_CALL_GAS || (await hasHistory())) return undefined
  const message = `callGasLimit is ${callGasLimit}; no operation of ${sender} was included yet, and until then a sponsored one may have ${NEW_SENDER_CALL_GAS}. Send a smaller one first.`
  return { code: 'GAS_TOO_HIGH', message }
}

/**
 * The refusal of limits that are absurd for an operation that a tank pays: they would lock the
 * deposit, or hand it to the bundler of the operation. `verificationFloor` (gas): the verificationGasLimit
 * that any operation may have.
 */
export function checkGas(
  requested: RequestedGas,
  estimated: EstimatedGas,
  { maxVerificationGas, maxBundleGas }: GasLimits,
  verificationFloor: bigint,
): Refusal | undefined {
  const atMost = (estimate: bigint) => (estimate * LIMIT_PERCENT) / 100n + LIMIT_SLACK
  const { paymasterVerificationGasLimit: ofPaymaster = 0n } = estimated
  const { most } = preVerificationBounds(estimated)
  const bounds = {
    verificationGasLimit: greatest(atMost(estimated.verificationGasLimit), verificationFloor),
    paymasterVerificationGasLimit: atMost(ofPaymaster),
    callGasLimit: atMost(estimated.callGasLimit),
    preVerificationGas: (most * PRE_VERIFICATION_PERCENT) / 100n,
  }
  const ofChain: [name: string, value: bigint, limit: bigint][] = [
    ['verificationGasLimit', requested.verificationGasLimit, maxVerificationGas],
    ['paymasterVerificationGasLimit', requested.paymasterVerificationGasLimit, maxVerificationGas],
    ['the gas of all limits together', requested.bundleGas, maxBundleGas],
  ]
  const ofEstimate = (Object.keys(bounds) as (keyof typeof bounds)[]).map(
    (name) => [name, requested[name], bounds[name]] as const,
  )
  const broken = [...ofChain, ...ofEstimate].filter(([, value, limit]) => value > limit)
  if (broken.length === 0) return undefined
  const numbers = broken.map(
    ([name, value, limit]) => `${name} is ${value}; a sponsored operation may have ${limit}.`,
  )
  const message = `${numbers.join(' ')} Leave the three limits away, or send calculateGasLimits true, to get limits that fit.`
  return { code: 'GAS_TOO_HIGH', message }
}
