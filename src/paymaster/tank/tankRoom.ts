import type { Address } from 'viem'
import type { Draft } from '../../entrypoint/draft.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import { estimatedDataGas } from '../../gas/dataGas.js'
import type { DataPrice } from '../../gas/dataPrice.js'
import type { GasEstimate } from '../../gas/gasEstimate.js'
import { type BundleShare, preVerificationGas } from '../../gas/preVerificationGas.js'
import { widestOperation } from '../../gas/widestOperation.js'
import { complete, stubRange, tankStub, withPaymaster } from '../sponsoredDraft.js'
import { tankVerificationGas } from './tankGas.js'

/**
 * Gas: three cold slots. An account that pays for itself reads some in validation (a Safe its modules and
 * guards) that its call then meets warm; where a tank pays, the call is the first to read them.
 */
const COLD_SLOTS_GAS = 6_500n
/** A limit that is found by search may be a 64th above the smallest, so two of them differ by as much. */
const SEARCH_SHARE = 64n

/**
 * The estimate of an operation without a paymaster, with room for a tank that may come to pay for it:
 * gas for the bytes of the tank's data, for a call that meets the account cold, and on v0.6 for the
 * tank's validation, which shares a limit with the account's. Some clients place the tank's data in their operation and keep the limits of the estimate
 * that they made before; without the room the tank would have to sign higher ones (AA34).
 */
export function withTankRoom(
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
    verificationGasLimit: hasPaymasterLimits ? ownLimit : ownLimit + tankVerificationGas(draft),
  }
  const calldata = (paid: Draft, limits: GasEstimate, signed: Partial<GasEstimate>): bigint => {
    const op = complete(paid, limits)
    const { bundleSize } = share
    // As if no gas counted towards the calldata floor, under which the bytes cost most.
    return preVerificationGas(entryPoint, widestOperation(op), {
      ...share,
      limited: complete(paid, { ...limits, ...signed }),
      verificationGasUsed: 0n,
      dataGas: estimatedDataGas(entryPoint, { op, fees: estimate, bundleSize }, dataPrice),
    })
  }
  const sponsored = calldata(withPaymaster(draft, stub), { ...estimate, ...stub }, raised)
  const room = sponsored - calldata(draft, estimate, {})
  const { preVerificationBounds: bounds } = estimate
  return {
    ...estimate,
    ...raised,
    preVerificationGas: estimate.preVerificationGas + room,
    preVerificationBounds: bounds && { least: bounds.least + room, most: bounds.most + room },
  }
}
