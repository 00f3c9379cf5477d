import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { StateOverride } from '../chain/ethCall.js'
import { mostBundleGas } from '../erc4337/bundleGas.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import type { Engine } from '../simulation/engine.js'

/**
 * The callGasLimit with which the call of `op`, which failed without a reason, would succeed; undefined where it fails
 * with any, or does not fail now.
 */
export async function neededCallGas(
  engine: Pick<Engine, 'measure'>,
  entryPoint: EntryPoint,
  op: Operation,
  {
    maxBundleGas,
    maxVerificationGas,
  }: Pick<ChainDefinition, 'maxBundleGas' | 'maxVerificationGas'>,
  override?: StateOverride,
): Promise<bigint | undefined> {
  const bounds = {
    call: mostBundleGas(entryPoint, maxBundleGas),
    verification: maxVerificationGas,
    postOp: op.paymasterPostOpGasLimit || undefined,
  }
  const measured = await engine.measure(entryPoint, op, bounds, override)
  if (measured.outcome !== 'measured') return undefined
  const { callGasLimit } = measured.gas
  return callGasLimit > op.callGasLimit ? callGasLimit : undefined
}

/** Why a call failed that gave no reason, by what `neededCallGas` found. */
export function describeSilentCall(
  { callGasLimit }: Pick<Operation, 'callGasLimit'>,
  needed: bigint | undefined,
): string {
  return needed === undefined
    ? 'no reason given, and not for lack of gas'
    : `out of gas, the callGasLimit was ${callGasLimit}, about ${needed} is needed`
}
