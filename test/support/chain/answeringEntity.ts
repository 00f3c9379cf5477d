import { type Address, encodeFunctionData, type Hex, numberToHex, parseEther } from 'viem'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { VersionChain } from '../world/versionChain.js'
import { compileSolidity } from './compileSolidity.js'
import { plainOperation } from '../operations/plainOperation.js'

/**
 * Account and paymaster of every EntryPoint version that takes each signature, answers validation with
 * data and a context of the size that it was set to, pays what it must, and uses up all gas of its call and
 * of postOp without failing: nothing is left of which the EntryPoint would charge a part.
 */
const compiled = compileSolidity(`
contract AnsweringEntity {
    uint256 public validationData;
    uint256 public contextSize;
    uint256 public padding;
    uint256 public postOpPadding;
    bool public idles;

    function padPostOp(uint256 bytes_) external {
        postOpPadding = bytes_;
    }
    function set(uint256 validationData_, uint256 contextSize_, uint256 padding_, bool idles_) external {
        (validationData, contextSize) = (validationData_, contextSize_);
        (padding, idles) = (padding_, idles_);
    }
    receive() external payable {}
    fallback() external payable {
        uint256 data = validationData;
        uint256 more = padding;
        if (msg.sig == 0x3a871cdd || msg.sig == 0x19822f7c) {
            assembly {
                let missing := calldataload(0x44)
                if gt(missing, 0) { pop(call(gas(), caller(), missing, 0, 0, 0, 0)) }
                mstore(0, data)
                return(0, add(32, more))
            }
        }
        uint256 size = contextSize;
        if (msg.sig == 0xf465c77e || msg.sig == 0x52b7512c) {
            assembly {
                mstore(0, 64)
                mstore(32, data)
                mstore(64, size)
                return(0, add(add(96, more), and(add(size, 31), not(31))))
            }
        }
        if (msg.sig == 0x5fbfb9cf) {
            assembly {
                // An account that answers 0 to everything.
                mstore(0, 0x665f5f5260205ff360005260076019f3)
                mstore(0, create2(0, 16, 16, calldataload(0x24)))
                return(0, add(32, more))
            }
        }
        more += postOpPadding;
        if (!idles && more == 0) while (gasleft() > 300) {}
        assembly { return(0, more) }
    }
}
`).AnsweringEntity

/** Validation data with both bounds, as every EntryPoint reads them: valid from 1970 to 2096. */
export const timeRange = (4_000_000_000n << 160n) | (1n << 208n)

/** Validation data with both bounds in block numbers, as v0.9 alone reads them. */
export const blockRange = ((2n ** 47n + 4_000_000n) << 160n) | ((2n ** 47n + 1n) << 208n)

export type EntityAnswer = {
  readonly validationData?: bigint
  readonly contextSize?: number
  /** Bytes of zeros behind every answer; a factory's are those behind the address of the account. */
  readonly padding?: number
  /** Whether it leaves the gas of its call and of postOp. */
  readonly idles?: boolean
}

/** Places an entity at `number`, with 1 ETH; a paymaster needs a deposit as well. */
export async function placeEntity(
  { tester, transact }: VersionChain,
  number: number,
  { validationData = 0n, contextSize = 0, padding = 0, idles = false }: EntityAnswer = {},
): Promise<Address> {
  if (!compiled) throw new Error('AnsweringEntity was not compiled')
  const address = numberToHex(0xe711_0000 + number, { size: 20 })
  await tester.setCode({ address, bytecode: compiled.runtime })
  await tester.setBalance({ address, value: parseEther('1') })
  const args = [validationData, BigInt(contextSize), BigInt(padding), idles] as const
  await transact(address, encodeFunctionData({ abi: compiled.abi, functionName: 'set', args }))
  return address
}

/** An operation of a placed entity, with gas for what it does and without preVerificationGas. */
export function entityOperation(sender: Address, callData: Hex, paymaster?: Address): Operation {
  return plainOperation({
    sender,
    nonce: 1n << 64n,
    callData,
    callGasLimit: 30_000n,
    verificationGasLimit: 200_000n,
    preVerificationGas: 1n,
    paymaster,
    signature: `0x${'5a'.repeat(65)}`,
  })
}
