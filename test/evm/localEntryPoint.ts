import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  padHex,
} from 'viem'
import {
  entryPoint06Abi,
  entryPoint06Address,
  getUserOperationHash,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import {
  type BlockEnv,
  type CallResult,
  call,
  type EvmContext,
  type EvmMessage,
  fromHex,
  overlay,
  type State,
  toHex,
} from '../../src/evm/index.js'

const DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const DEPLOYER_CODE: Hex =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'
const RICH: Address = '0x00000000000000000000000000000000000000aa'
const SALT = padHex('0x', { size: 32 })
const owner = privateKeyToAccount(keccak256('0x01'))

export const ENTRY_POINT = entryPoint06Address.toLowerCase() as Address

export const BLOCK: BlockEnv = {
  fork: 'osaka',
  chainId: 31_337n,
  number: 1000n,
  timestamp: 1_800_000_000n,
  coinbase: '0x00000000000000000000000000000000000000cb',
  gasLimit: 30_000_000n,
  prevRandao: SALT,
  baseFee: 1_000_000_000n,
  blobBaseFee: 1n,
  blockHash: () => SALT,
}

/** A world of our own with EntryPoint v0.6 and a SimpleAccount, made by running their initcode. */
export type LocalEntryPoint = {
  /** Before the account exists. */
  empty: State
  /** With the account deployed. */
  deployed: State
  sender: Address
  factory: Address
  /** Call of simulateValidation for an operation of the account, creating it or not. */
  simulateValidation(kind: 'init' | 'plain'): Promise<EvmMessage>
}

function blank(): State {
  const code = new Uint8Array(0)
  return { account: () => ({ nonce: 0n, balance: 0n, code }), slot: () => 0n }
}

export async function createLocalEntryPoint(): Promise<LocalEntryPoint> {
  let state = overlay(
    blank(),
    new Map([
      [DEPLOYER, { code: fromHex(DEPLOYER_CODE) }],
      [RICH, { balance: 10n ** 20n }],
    ]),
  )
  const send = (to: Address, data: Hex, value = 0n): Hex => {
    const result = must(state, { from: RICH, to, data: fromHex(data), value, gas: 16_000_000 })
    state = frozen(overlay(state, result.changes))
    return toHex(result.output)
  }
  const create2 = (initcode: Hex): Address => {
    send(DEPLOYER, concatHex([SALT, initcode]))
    return `0x${keccak256(concatHex(['0xff', DEPLOYER, SALT, keccak256(initcode)])).slice(-40)}`
  }
  create2(bytecode('EntryPoint'))
  const argument = encodeAbiParameters([{ type: 'address' }], [ENTRY_POINT])
  const factory = create2(concatHex([bytecode('SimpleAccountFactory'), argument]))
  const sender: Address = `0x${send(factory, factoryCall('0x8cb84e18')).slice(-40)}`
  const deposit = { abi: entryPoint06Abi, functionName: 'depositTo', args: [sender] } as const
  send(ENTRY_POINT, encodeFunctionData(deposit), 10n ** 18n)
  const empty = state
  send(factory, factoryCall('0x5fbfb9cf'))
  const initCode = concatHex([factory, factoryCall('0x5fbfb9cf')])
  return {
    empty,
    deployed: state,
    sender,
    factory,
    simulateValidation: async (kind) => ({
      from: `0x${'00'.repeat(20)}`,
      to: ENTRY_POINT,
      data: fromHex(await simulationOf(sender, kind === 'init' ? initCode : '0x')),
      value: 0n,
      gas: 5_000_000,
    }),
  }
}

/** What a provider does in the service: plain maps, filled once, without layers below them. */
function frozen(state: State): State {
  const accounts = new Map<Address, ReturnType<State['account']>>()
  const slots = new Map<string, bigint | undefined>()
  return {
    account: (address) => {
      if (!accounts.has(address)) accounts.set(address, state.account(address))
      return accounts.get(address)
    },
    slot: (address, slot) => {
      const key = address + slot
      if (!slots.has(key)) slots.set(key, state.slot(address, slot))
      return slots.get(key)
    },
  }
}

function must(state: State, input: EvmMessage): CallResult {
  const context: EvmContext = { state, block: BLOCK, onMiss: 'stop', record: false, maxSteps: 1e8 }
  const outcome = call(context, input)
  if (outcome.kind === 'done' && outcome.success) return outcome
  throw new Error(`preparing the world failed: ${JSON.stringify(outcome.kind)}`)
}

function bytecode(name: string): Hex {
  const require = createRequire(import.meta.url)
  const path = require.resolve(`account-abstraction-v06/artifacts/${name}.json`)
  return (JSON.parse(readFileSync(path, 'utf8')) as { bytecode: Hex }).bytecode
}

/** getAddress or createAccount of the factory, by selector. */
function factoryCall(selector: '0x8cb84e18' | '0x5fbfb9cf'): Hex {
  const inputs = [{ type: 'address' }, { type: 'uint256' }] as const
  return concatHex([selector, encodeAbiParameters(inputs, [owner.address, 0n])])
}

async function simulationOf(sender: Address, initCode: Hex): Promise<Hex> {
  const op = {
    sender,
    nonce: 0n,
    initCode,
    callData: '0x' as Hex,
    callGasLimit: 50_000n,
    verificationGasLimit: 500_000n,
    preVerificationGas: 50_000n,
    maxFeePerGas: 3_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    paymasterAndData: '0x' as Hex,
    signature: '0x' as Hex,
  }
  const hash = getUserOperationHash({
    chainId: Number(BLOCK.chainId),
    entryPointAddress: entryPoint06Address,
    entryPointVersion: '0.6',
    userOperation: op,
  })
  const signature = await owner.signMessage({ message: { raw: hash } })
  return encodeFunctionData({
    abi: entryPoint06Abi,
    functionName: 'simulateValidation',
    args: [{ ...op, signature }],
  })
}
