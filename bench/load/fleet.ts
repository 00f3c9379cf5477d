import { signRecoverable } from 'tiny-secp256k1'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  hashMessage,
  hexToBytes,
  parseAbi,
  toHex,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { encodeOperation } from '../../src/api/dialects/operationFields.js'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import type { EntryPoint } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import type { Payer } from './loadOptions.js'
import type { RpcClient } from './rpcClient.js'

const abi = parseAbi([
  'function createAccount(address owner, uint256 salt) returns (address)',
  'function getAddress(address owner, uint256 salt) view returns (address)',
  'function execute(address dest, uint256 value, bytes func)',
])
const DUMMY_SIGNATURE: Hex = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`
const RECEIVER: Address = '0x0000000000000000000000000000000000beef00'
const ONE_ETHER = '0xde0b6b3a7640000'
const callData = encodeFunctionData({ abi, functionName: 'execute', args: [RECEIVER, 1n, '0x'] })

type Account = { readonly key: Hex; readonly owner: Address; readonly address: Address }

/** What is sent, ready made, and its hash. */
export type Prepared = { readonly hash: Hex; readonly wire: unknown }

/** Where an operation goes: the place of its account, and its nonce. */
export type Slot = { readonly account: number; readonly nonce: bigint }

export type Fleet = {
  /** The first operation of each account, which creates it. */
  creations(): Promise<Prepared[]>
  /** `count` operations of existing accounts, each valid together with all others (a nonce key of its own). */
  operations(count: number): Promise<Prepared[]>
  /** An operation for each slot. The first one's nonce key should be new where one is: that costs most gas. */
  operationsFor(slots: readonly Slot[]): Promise<Prepared[]>
  /** An unsigned operation without limits, to be estimated. */
  readonly unsigned: () => Record<string, unknown>
  /** Milliseconds that the paymaster took for each answer since this was last asked. */
  sponsorTimes(): number[]
}

type FleetContext = {
  readonly node: RpcClient
  readonly bundler: RpcClient
  readonly entryPoint: EntryPoint
  readonly factory: Address
  readonly chainId: number
  readonly accounts: number
  readonly payer: Payer
  readonly seed: string
  readonly concurrency: number
}

/** SimpleAccounts with funds, and operations of theirs that send one wei. */
export async function createFleet(context: FleetContext): Promise<Fleet> {
  const { node, bundler, entryPoint, factory, chainId, payer } = context
  const accounts: Account[] = []
  for (let i = 0; i < context.accounts; i++) {
    const key = keyFromSeed(`${context.seed} ${i}`)
    const owner = privateKeyToAddress(key)
    const data = encodeFunctionData({ abi, functionName: 'getAddress', args: [owner, 0n] })
    const { result } = await node.call<Hex>('eth_call', [{ to: factory, data }, 'latest'])
    const address: Address = `0x${result.slice(-40)}`
    await node.call('anvil_setBalance', [address, ONE_ETHER])
    accounts.push({ key, owner, address })
  }
  let fees = await feesFor(node, payer)
  let sponsorTimes: number[] = []
  let nonceKey = 0n

  const draft = ({ owner, address }: Account, nonce: bigint, isCreation = false): Operation => ({
    sender: address,
    nonce,
    factory: isCreation ? factory : undefined,
    factoryData: isCreation
      ? encodeFunctionData({ abi, functionName: 'createAccount', args: [owner, 0n] })
      : '0x',
    callData,
    callGasLimit: 0n,
    verificationGasLimit: 0n,
    preVerificationGas: 0n,
    ...fees,
    paymaster: undefined,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
    paymasterData: '0x',
    signature: DUMMY_SIGNATURE,
    authorization: undefined,
  })

  const wireOf = (op: Operation) => encodeOperation(op, entryPoint.version)
  const unlimited = (op: Operation) => {
    const { callGasLimit, verificationGasLimit, preVerificationGas, ...rest } = wireOf(op)
    return rest
  }

  const sponsored = async (op: Operation): Promise<Operation> => {
    const { result, ms } = await bundler.call<Record<string, Hex>>('pm_sponsorUserOperation', [
      unlimited(op),
      entryPoint.address,
      { mode: 'SPONSORED', calculateGasLimits: true },
    ])
    sponsorTimes.push(ms)
    const number = (name: string) => BigInt(result[name] ?? 0)
    const limited = {
      ...op,
      callGasLimit: number('callGasLimit'),
      verificationGasLimit: number('verificationGasLimit'),
      preVerificationGas: number('preVerificationGas'),
    }
    // Nobody signs for it: the bundler takes it without fees.
    if (payer === 'native') return { ...limited, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    const packed = result.paymasterAndData ?? '0x'
    const paymaster = result.paymaster ?? (packed.slice(0, 42) as Address)
    if (paymaster.length !== 42) throw new Error(`not sponsored: ${JSON.stringify(result)}`)
    return {
      ...limited,
      paymaster,
      paymasterData: result.paymasterData ?? `0x${packed.slice(42)}`,
      paymasterVerificationGasLimit: number('paymasterVerificationGasLimit'),
      paymasterPostOpGasLimit: number('paymasterPostOpGasLimit'),
    }
  }

  const estimated = async (op: Operation): Promise<Operation> => {
    const params = [unlimited(op), entryPoint.address]
    const { result } = await bundler.call<Record<string, Hex>>(
      'eth_estimateUserOperationGas',
      params,
    )
    const limit = (name: string) => BigInt(result[name] ?? 0)
    return {
      ...op,
      callGasLimit: limit('callGasLimit'),
      verificationGasLimit: limit('verificationGasLimit'),
      preVerificationGas: limit('preVerificationGas'),
    }
  }

  const signed = (op: Operation, key: Hex): Prepared => {
    const hash = entryPoint.hash(op, chainId)
    const digest = signsTypedData(entryPoint) ? hash : hashMessage({ raw: hash })
    const { signature, recoveryId } = signRecoverable(hexToBytes(digest), hexToBytes(key))
    const v = (27 + recoveryId).toString(16)
    return { hash, wire: wireOf({ ...op, signature: `${toHex(signature)}${v}` }) }
  }

  /** Of one shape: who pays itself takes the limits of the first, with room for what varies. */
  const prepare = async (
    drafts: readonly (readonly [Operation, Account])[],
  ): Promise<Prepared[]> => {
    const [first] = drafts
    if (first === undefined) return []
    if (payer !== 'self') {
      const ready = await mapConcurrent(drafts, context.concurrency, async ([op, { key }]) =>
        signed(await sponsored(op), key),
      )
      return ready
    }
    const { callGasLimit, verificationGasLimit, preVerificationGas } = await estimated(first[0])
    const limits = {
      callGasLimit: withRoom(callGasLimit),
      verificationGasLimit: withRoom(verificationGasLimit),
      preVerificationGas: withRoom(preVerificationGas),
    }
    return drafts.map(([op, { key }]) => signed({ ...op, ...limits }, key))
  }

  const operationsFor = async (slots: readonly Slot[]): Promise<Prepared[]> => {
    fees = await feesFor(node, payer)
    return prepare(
      slots.map(({ account: place, nonce }) => {
        const account = accounts[place] as Account
        return [draft(account, nonce), account]
      }),
    )
  }

  return {
    creations: () => prepare(accounts.map((account) => [draft(account, 0n, true), account])),
    operationsFor,
    operations: (count) =>
      operationsFor(
        Array.from({ length: count }, (_, i) => ({
          account: i % accounts.length,
          nonce: ++nonceKey << 64n,
        })),
      ),
    unsigned: () => unlimited(draft(accounts[0] as Account, ++nonceKey << 64n)),
    sponsorTimes() {
      const times = sponsorTimes
      sponsorTimes = []
      return times
    },
  }
}

/** SimpleAccounts of v0.8 and later take the userOpHash as it is, earlier ones as a message. */
function signsTypedData({ version }: EntryPoint): boolean {
  return version === '0.8' || version === '0.9'
}

function withRoom(gas: bigint): bigint {
  return (gas * 110n) / 100n
}

/**
 * Far above what the chain asks, so that no operation waits for its price. A sponsor takes no more than twice that, by the
 * fees at its request, which may have fallen.
 */
async function feesFor(node: RpcClient, payer: Payer) {
  const { result } = await node.call<Hex>('eth_gasPrice', [])
  const price = BigInt(result)
  return {
    maxFeePerGas: payer === 'self' ? price * 4n : (price * 3n) / 2n,
    maxPriorityFeePerGas: price,
  }
}

/** Results in order, `concurrency` of them under way at once. */
export async function mapConcurrent<T, R>(
  items: readonly T[],
  concurrency: number,
  run: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const index = next++
      results[index] = await run(items[index] as T, index)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return results
}
