import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Operation } from '../../erc4337/operation.js'

const abi = parseAbi([
  'function createAccount(address owner, uint256 salt) returns (address)',
  'function getAddress(address owner, uint256 salt) view returns (address)',
  'function execute(address dest, uint256 value, bytes func)',
  'function getNonce(address sender, uint192 key) view returns (uint256)',
])

export type AccountCall = { readonly to: Address; readonly value?: bigint; readonly data?: Hex }

/** Of nobody, but recoverable: the account reverts on one that is not. */
const DUMMY_SIGNATURE: Hex = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`

export type SimpleAccount = {
  readonly address: Address
  /** An operation with unset limits and fees (0) and a signature of the right form. */
  readonly draft: (call: AccountCall, nonceKey?: bigint) => Promise<Operation>
  readonly sign: (op: Operation, userOpHash: Hex) => Promise<Operation>
}

type Chain = {
  /** eth_call */
  readonly read: (to: Address, data: Hex) => Promise<Hex>
  readonly isDeployed: (address: Address) => Promise<boolean>
}

type Owner = { readonly ownerKey: Hex; readonly factory: Address; readonly entryPoint: Address }

/** A SimpleAccount of the development chain's factory, for the demo and tests (EntryPoint v0.6). */
export async function simpleAccount(
  { read, isDeployed }: Chain,
  { ownerKey, factory, entryPoint }: Owner,
): Promise<SimpleAccount> {
  const owner = privateKeyToAccount(ownerKey)
  const created = [owner.address, 0n] as const
  const answer = await read(
    factory,
    encodeFunctionData({ abi, functionName: 'getAddress', args: created }),
  )
  const address: Address = `0x${answer.slice(-40)}`
  return {
    address,
    draft: async ({ to, value = 0n, data = '0x' }, nonceKey = 0n) => {
      const nonce = await read(
        entryPoint,
        encodeFunctionData({ abi, functionName: 'getNonce', args: [address, nonceKey] }),
      )
      const deployed = await isDeployed(address)
      return {
        sender: address,
        nonce: BigInt(nonce),
        factory: deployed ? undefined : factory,
        factoryData: deployed
          ? '0x'
          : encodeFunctionData({ abi, functionName: 'createAccount', args: created }),
        callData: encodeFunctionData({ abi, functionName: 'execute', args: [to, value, data] }),
        callGasLimit: 0n,
        verificationGasLimit: 0n,
        preVerificationGas: 0n,
        maxFeePerGas: 0n,
        maxPriorityFeePerGas: 0n,
        paymaster: undefined,
        paymasterVerificationGasLimit: 0n,
        paymasterPostOpGasLimit: 0n,
        paymasterData: '0x',
        signature: DUMMY_SIGNATURE,
        authorization: undefined,
      }
    },
    sign: async (op, userOpHash) => ({
      ...op,
      signature: await owner.signMessage({ message: { raw: userOpHash } }),
    }),
  }
}

/** The operation as the interface's JSON has it (EntryPoint v0.6); unset limits are left out. */
export function toInterfaceOperation(op: Operation): Record<string, Hex> {
  const { callGasLimit, verificationGasLimit, preVerificationGas } = op
  const { maxFeePerGas, maxPriorityFeePerGas } = op
  return {
    sender: op.sender,
    nonce: numberToHex(op.nonce),
    initCode: op.factory ? concatHex([op.factory, op.factoryData]) : '0x',
    callData: op.callData,
    ...(callGasLimit && { callGasLimit: numberToHex(callGasLimit) }),
    ...(verificationGasLimit && { verificationGasLimit: numberToHex(verificationGasLimit) }),
    ...(preVerificationGas && { preVerificationGas: numberToHex(preVerificationGas) }),
    ...(maxFeePerGas && {
      maxFeePerGas: numberToHex(maxFeePerGas),
      maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas),
    }),
    paymasterAndData: op.paymaster ? concatHex([op.paymaster, op.paymasterData]) : '0x',
    signature: op.signature,
  }
}

/** A fresh private key that depends on `seed` only. */
export function keyFromSeed(seed: string): Hex {
  return keccak256(new TextEncoder().encode(seed))
}
