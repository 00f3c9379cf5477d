import {
  type Address,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  numberToHex,
  parseAbi,
} from 'viem'
import { createEntryPoint } from '../../../src/erc4337/createEntryPoint.js'
import type { EntryPoint, Version } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { deployEntryPoint } from './entryPointContracts.js'
import { compileScripted } from './scripted.js'
import { type Anvil, type Receipt, startAnvil } from './startAnvil.js'
import { plainOperation } from '../operations/plainOperation.js'

export const scriptedAbi = parseAbi([
  'function configure(uint256 validationLeaves, bool postOpBurns)',
  'function quiet()',
  'function fail(string reason)',
  'function burnAndFail()',
  'function spoof(bytes32 userOpHash, address paymaster)',
])

const entryPointAbi = parseAbi([
  'function depositTo(address) payable',
  'function getNonce(address, uint192) view returns (uint256)',
])

const FUNDS = 100n * 10n ** 18n

/** An anvil with one EntryPoint and scripted accounts that have deposits there. */
export type ScriptedChain = {
  readonly anvil: Anvil
  readonly entryPoint: EntryPoint
  /** Makes `address` a scripted contract; see contracts/Scripted.sol for its settings. */
  configure(address: Address, validationLeaves: bigint, postOpBurns: boolean): Promise<void>
  /** An operation of `sender` with its next nonce. */
  operation(sender: Address, callData: Hex, fields?: Partial<Operation>): Promise<Operation>
  /** Calldata of a bundle with a beneficiary that has a balance. */
  input(ops: readonly Operation[]): Hex
  handleOps(ops: readonly Operation[], gas: bigint): Promise<Receipt>
  stop(): Promise<void>
}

/** Receives what bundles earn; funded, as a steady beneficiary is. */
const BENEFICIARY: Address = `0x${'fe'.repeat(20)}`

export function scriptedAddress(index: number): Address {
  return numberToHex(0xabc000 + index, { size: 20 })
}

export async function startScriptedChain(version: Version): Promise<ScriptedChain> {
  const anvil = await startAnvil(['--gas-limit', '1000000000'])
  const entryPoint = createEntryPoint(version, await deployEntryPoint(anvil, version))
  const code = compileScripted()
  await anvil.request('anvil_setBalance', [BENEFICIARY, numberToHex(FUNDS)])
  const input = (ops: readonly Operation[]): Hex => entryPoint.encodeHandleOps(ops, BENEFICIARY)
  return {
    anvil,
    entryPoint,
    input,
    configure: async (address, validationLeaves, postOpBurns) => {
      await anvil.request('anvil_setCode', [address, code])
      const settings = encodeFunctionData({
        abi: scriptedAbi,
        functionName: 'configure',
        args: [validationLeaves, postOpBurns],
      })
      await anvil.send({ to: address, data: settings })
      const data = encodeFunctionData({
        abi: entryPointAbi,
        functionName: 'depositTo',
        args: [address],
      })
      await anvil.send({ to: entryPoint.address, data, value: numberToHex(FUNDS) })
    },
    operation: async (sender, callData, fields) => {
      const data = encodeFunctionData({
        abi: entryPointAbi,
        functionName: 'getNonce',
        args: [sender, 0n],
      })
      const nonce = await anvil.request('eth_call', [{ to: entryPoint.address, data }, 'latest'])
      return plainOperation({
        sender,
        nonce: hexToBigInt(nonce as Hex),
        callData,
        callGasLimit: 50_000n,
        verificationGasLimit: 300_000n,
        preVerificationGas: 60_000n,
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 10n ** 9n,
        signature: `0x${'5a'.repeat(65)}`,
        ...fields,
      })
    },
    handleOps: (ops, gas) =>
      anvil.send({
        to: entryPoint.address,
        data: input(ops),
        gas: numberToHex(gas),
      }),
    stop: () => anvil.stop(),
  }
}

/** What a transaction with `data` costs before it runs, and at the very least (EIP-7623). */
export function calldataGas(data: Hex): { intrinsic: bigint; floor: bigint } {
  let tokens = 0n
  for (const byte of Buffer.from(data.slice(2), 'hex')) tokens += byte === 0 ? 1n : 4n
  return { intrinsic: 21_000n + tokens * 4n, floor: 21_000n + tokens * 10n }
}
