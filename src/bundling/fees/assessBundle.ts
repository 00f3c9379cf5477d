import type { Hex } from 'viem'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { Operation } from '../../entrypoint/operation.js'
import { bundleCost } from '../../gas/preVerificationGas.js'
import type { StoredOperation } from '../../store/pool/operations.js'
import type { Engine } from '../../validation/engine.js'
import { carriedOperation } from './carriedOperation.js'
import { coversGas, paysForItself } from './paysForItself.js'
import { pricedOperation } from './pricedOperation.js'

/** Gas that every EntryPoint meters for any operation: its nonce, its payment, the call of its account. */
const LEAST_METERED = 10_000n

/**
 * Measures the cost and the income of a bundle; the returned function tells whether the bundle pays for
 * itself with given fees. Only where the calldata floor (EIP-7623) or the cap of refunds (EIP-3529) may
 * bind does it matter how much gas validation uses: then every operation is validated again.
 */
export async function assessBundle(
  engine: Pick<Engine, 'validate'>,
  entryPoint: EntryPoint,
  operations: readonly Pick<
    StoredOperation,
    'operation' | 'offer' | 'mostCharged' | 'firstValidation'
  >[],
  data: Hex,
  beneficiaryGas: number,
): Promise<(fees: Fees) => boolean> {
  const ops = operations.map(({ operation }) => operation)
  const cost = bundleCost(entryPoint, operations.map(carriedOperation), data, beneficiaryGas)
  const isCovered = coversGas(
    ops.map((op) => ({ op, metered: LEAST_METERED })),
    cost,
  )
  const metered = async (op: Operation) =>
    isCovered ? LEAST_METERED : verificationGas(engine, entryPoint, op)
  const paying = await Promise.all(
    operations.map(async (stored) => ({
      op: pricedOperation(entryPoint, stored),
      metered: await metered(stored.operation),
    })),
  )
  return (fees) => paysForItself({ entryPoint, paying, cost }, fees)
}

async function verificationGas(
  engine: Pick<Engine, 'validate'>,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<bigint> {
  const validated = await engine.validate(entryPoint, op)
  return validated.ok ? validated.validation.verificationGasUsed : 0n
}
