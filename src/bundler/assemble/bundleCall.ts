import type { Address, SignedAuthorization } from 'viem'
import { getBalance } from '../../chain/nodeReads.js'
import type { TransactionCall } from '../../chain/transactionCall.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import type { StoredOperation } from '../../mempool/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { bundleGasLimit, carriedOperation } from '../fees/pricedOperation.js'

/** The account that is paid for a bundle. */
export type Payee = {
  readonly beneficiary: Address
  /** Gas by which it costs more to pay an account that does not exist; 0 where it has wei. */
  readonly creationGas: bigint
}

/** The payee of the next bundle of `executor`. The executor itself exists, as it sends transactions. */
export async function readPayee(
  { node, definition: { beneficiary } }: Pick<BundlingContext, 'node' | 'definition'>,
  executor: Address,
  entryPoint: EntryPoint,
): Promise<Payee> {
  const exists = beneficiary === undefined || (await getBalance(node, beneficiary)) > 0n
  const creationGas = exists ? 0n : BigInt(entryPoint.gas().newBeneficiary)
  return { beneficiary: beneficiary ?? executor, creationGas }
}

type BundleSubject = { readonly entryPoint: EntryPoint; readonly executor: Address } & Payee

type BundleCall = TransactionCall & Required<Pick<TransactionCall, 'from' | 'gas'>>

/** The transaction that carries the operations, without fees and as it will be sent. */
export function bundleCall(
  { entryPoint, executor, beneficiary, creationGas }: BundleSubject,
  operations: readonly StoredOperation[],
): BundleCall {
  const ops = operations.map(({ operation }) => operation)
  const data = entryPoint.encodeHandleOps(ops, beneficiary)
  const gas = bundleGasLimit(entryPoint, operations.map(carriedOperation), data) + creationGas
  const authorizations = ops.flatMap(authorizationOf)
  return { from: executor, to: entryPoint.address, data, gas, authorizations }
}

function authorizationOf({ authorization }: Operation): readonly SignedAuthorization[] {
  return authorization ? [{ ...authorization, nonce: Number(authorization.nonce) }] : []
}
