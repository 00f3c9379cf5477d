import { encodeFunctionData, type Hex, zeroHash } from 'viem'
import { abi as tank06Abi } from '../../../src/chain/contracts/generated/TokenTank06.js'
import { abi as tank07Abi } from '../../../src/chain/contracts/generated/TokenTank07.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { operation06, operation07 } from './tankCalls.js'
import type { TokenTankChain } from './tokenTankChain.js'

/** The answer of the operation's token tank for `op`. */
export function askTokenTank(
  { wallet, version }: TokenTankChain,
  functionName: 'getHash' | 'maxCharge',
  op: Operation,
): Promise<Hex | bigint> {
  const address = op.paymaster!
  return version === '0.6'
    ? wallet.readContract({ address, abi: tank06Abi, functionName, args: [operation06(op)] })
    : wallet.readContract({ address, abi: tank07Abi, functionName, args: [operation07(op)] })
}

/** Calls that only the EntryPoint may make. */
export function entryPointCalls({ version }: TokenTankChain, op: Operation): readonly Hex[] {
  const [validate, postOp] = ['validatePaymasterUserOp', 'postOp'] as const
  if (version === '0.6') {
    const abi = tank06Abi
    const args = [operation06(op), zeroHash, 0n] as const
    return [
      encodeFunctionData({ abi, functionName: validate, args }),
      encodeFunctionData({ abi, functionName: postOp, args: [0, '0x', 0n] }),
    ]
  }
  const abi = tank07Abi
  const args = [operation07(op), zeroHash, 0n] as const
  return [
    encodeFunctionData({ abi, functionName: validate, args }),
    encodeFunctionData({ abi, functionName: postOp, args: [0, '0x', 0n, 0n] }),
  ]
}
