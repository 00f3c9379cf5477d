import { type Address, encodeFunctionData, type Hex, numberToHex, parseEther } from 'viem'
import type { Operation } from '../../../src/entrypoint/operation.js'
import { compileSolidity } from './compileSolidity.js'
import type { EngineChain } from './engineChain.js'

/**
 * Account and paymaster of every EntryPoint version that takes each signature, answers validation with
 * data and a context of the size that it was told, pays what it must, and uses up all gas of its call and
 * of postOp without failing: nothing is left of which the EntryPoint would charge a part.
 */
const compiled = compileSolidity(`
contract AnsweringEntity {
    uint256 public validationData;
    uint256 public contextSize;

    function set(uint256 validationData_, uint256 contextSize_) external {
        (validationData, contextSize) = (validationData_, contextSize_);
    }
    receive() external payable {}
    fallback() external payable {
        uint256 data = validationData;
        if (msg.sig == 0x3a871cdd || msg.sig == 0x19822f7c) {
            assembly {
                let missing := calldataload(0x44)
                if gt(missing, 0) { pop(call(gas(), caller(), missing, 0, 0, 0, 0)) }
                mstore(0, data)
                return(0, 32)
            }
        }
        uint256 size = contextSize;
        if (msg.sig == 0xf465c77e || msg.sig == 0x52b7512c) {
            assembly {
                mstore(0, 64)
                mstore(32, data)
                mstore(64, size)
                return(0, add(96, and(add(size, 31), not(31))))
            }
        }
        while (gasleft() > 300) {}
    }
}
`).AnsweringEntity

/** Validation data with both bounds, as every EntryPoint reads them: valid from 1970 to 2096. */
export const timeRange = (4_000_000_000n << 160n) | (1n << 208n)

/** Validation data with both bounds in block numbers, as v0.9 alone reads them. */
export const blockRange = ((2n ** 47n + 4_000_000n) << 160n) | ((2n ** 47n + 1n) << 208n)

export type EntityAnswer = { readonly validationData?: bigint; readonly contextSize?: number }

/** Places an entity at `number`, with 1 ETH; a paymaster needs a deposit as well. */
export async function placeEntity(
  { tester, transact }: EngineChain,
  number: number,
  { validationData = 0n, contextSize = 0 }: EntityAnswer = {},
): Promise<Address> {
  if (!compiled) throw new Error('AnsweringEntity was not compiled')
  const address = numberToHex(0xe711_0000 + number, { size: 20 })
  await tester.setCode({ address, bytecode: compiled.runtime })
  await tester.setBalance({ address, value: parseEther('1') })
  const args = [validationData, BigInt(contextSize)] as const
  await transact(address, encodeFunctionData({ abi: compiled.abi, functionName: 'set', args }))
  return address
}

/** An operation of a placed entity, with gas for what it does and without preVerificationGas. */
export function entityOperation(sender: Address, callData: Hex, paymaster?: Address): Operation {
  return {
    sender,
    nonce: 1n << 64n,
    factory: undefined,
    factoryData: '0x',
    callData,
    callGasLimit: 30_000n,
    verificationGasLimit: 200_000n,
    preVerificationGas: 1n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    paymaster,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
    paymasterData: '0x',
    signature: `0x${'5a'.repeat(65)}`,
    authorization: undefined,
  }
}
