import type { Address, Hex } from 'viem'
import type { SmartAccount } from 'viem/account-abstraction'
import { DELEGATION_MARKER } from '../../../src/erc4337/delegation.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { authorizationOf } from '../../support/service/smartAccounts.js'

type Call = { readonly to: Address; readonly value?: bigint; readonly data?: Hex }

function lower<Text extends Hex>(text: Text): Text {
  return text.toLowerCase() as Text
}

/** viem's factory of an account that delegates. */
const SHORT_MARKER = '0x7702'

/** An operation of `account` without limits and fees that makes `calls`, with the dummy of its client. */
export async function operationOfAccount(
  account: SmartAccount,
  calls: readonly Call[],
): Promise<Operation> {
  const { factory, factoryData } = await account.getFactoryArgs()
  const { authorization } = await authorizationOf(account)
  const fields = {
    sender: lower(account.address),
    nonce: await account.getNonce(),
    callData: await account.encodeCalls([...calls]),
  }
  return {
    ...fields,
    factory: factory === SHORT_MARKER ? DELEGATION_MARKER : factory && lower(factory),
    factoryData: factoryData ?? '0x',
    callGasLimit: 0n,
    verificationGasLimit: 0n,
    preVerificationGas: 0n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    paymaster: undefined,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
    paymasterData: '0x',
    signature: await account.getStubSignature(fields as never),
    authorization: authorization && {
      ...authorization,
      nonce: BigInt(authorization.nonce),
      yParity: authorization.yParity as 0 | 1,
    },
  }
}

/** The operation with its real signature. */
export async function signByAccount(account: SmartAccount, op: Operation): Promise<Operation> {
  const { factory, factoryData, authorization, paymaster, ...fields } = op
  const isPacked = account.entryPoint.version === '0.6'
  const initCode = factory ? `${factory}${factoryData.slice(2)}` : '0x'
  const { sender, nonce, callData, signature } = fields
  const { callGasLimit, verificationGasLimit, preVerificationGas } = fields
  const { maxFeePerGas, maxPriorityFeePerGas } = fields
  const operation = {
    sender,
    nonce,
    callData,
    signature,
    callGasLimit,
    verificationGasLimit,
    preVerificationGas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    ...(isPacked ? { initCode, paymasterAndData: '0x' } : factory && { factory, factoryData }),
    ...(authorization && {
      authorization: { ...authorization, nonce: Number(authorization.nonce) },
    }),
  }
  return { ...op, signature: await account.signUserOperation(operation as never) }
}
