import { size } from 'viem/utils'
import { type TipFloor, tipOf } from '../chain/fees.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { CarriedOperation } from './copyingGas.js'
import { bundleCost } from './preVerificationGas.js'

/** Bytes of a signed transaction around its calldata, at most. */
const ENVELOPE = 200
/** Bytes of an EIP-7702 tuple, at most. */
const AUTHORIZATION = 180

const nobody = `0x${'00'.repeat(20)}` as const

/**
 * The tip (wei per gas) below which the chain's nodes do not take a bundle with these operations: by its plain bytes and
 * the least gas that it can use, so never too low.
 */
export function bundleTip(
  entryPoint: EntryPoint,
  carried: readonly CarriedOperation[],
  floor: TipFloor,
): bigint {
  if (floor.perByte === 0n) return floor.perGas
  const ops = carried.map(({ op }) => op)
  const data = entryPoint.encodeHandleOps(ops, nobody)
  const tuples = ops.filter(({ authorization }) => authorization !== undefined).length
  const bytes = ENVELOPE + size(data) + AUTHORIZATION * tuples
  return tipOf(floor, bytes, bundleCost(entryPoint, carried, data, { beneficiaryGas: 0 }).unmetered)
}
