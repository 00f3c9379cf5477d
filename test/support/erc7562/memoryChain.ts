import {
  type Address,
  concatHex,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  keccak256,
  parseAbi,
  zeroHash,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { devContracts } from '../../../src/cli/devnet/devContracts.js'
import { createEntryPoint } from '../../../src/erc4337/createEntryPoint.js'
import type { EntryPoint, Version } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import {
  type BlockEnv,
  type CallResult,
  call,
  type EvmAccountOverride,
  type EvmMessage,
  fromHex,
  overlay,
  p256VerifyRip7212,
  type State,
  toHex,
} from '../../../src/evm/index.js'
import { actorInitcode } from './actor.js'
import { operationOf } from './operationOf.js'

export { operationOf }

export const VERSIONS: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']

const DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const DEPLOYER_CODE: Hex =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'
/** Sends everything, the bundle included. Has no code. */
const RICH: Address = '0x00000000000000000000000000000000000000aa'
const BENEFICIARY: Address = '0x00000000000000000000000000000000000000bb'

/** The address at which the chain of the tests has a precompile that no fork has. */
export const CHAIN_PRECOMPILE = 0x2a00

export const BLOCK: BlockEnv = {
  fork: 'osaka',
  chainId: 31_337n,
  number: 1000n,
  timestamp: 1_800_000_000n,
  coinbase: '0x00000000000000000000000000000000000000cb',
  gasLimit: 30_000_000n,
  prevRandao: zeroHash,
  baseFee: 1_000_000_000n,
  blobBaseFee: 1n,
  blockHash: () => zeroHash,
  chainPrecompiles: new Map([[CHAIN_PRECOMPILE, p256VerifyRip7212]]),
}

const NO_CODE = new Uint8Array(0)
const EMPTY_STATE: State = {
  account: () => ({ nonce: 0n, balance: 0n, code: NO_CODE }),
  slot: () => 0n,
}

const depositAbi = parseAbi(['function depositTo(address account) payable'])

/** The chain of a test in memory: one EntryPoint and the contracts that were added. */
export type MemoryChain = ReturnType<typeof createMemoryChain>

/** A chain with the EntryPoint of `version`, deployed by running its creation code. */
export function createMemoryChain(version: Version) {
  let state = overlay(
    EMPTY_STATE,
    new Map<Address, EvmAccountOverride>([
      [DEPLOYER, { code: fromHex(DEPLOYER_CODE) }],
      [RICH, { balance: 10n ** 24n }],
      [BENEFICIARY, { balance: 1n }],
    ]),
  )
  const contracts = devContracts(version)

  const run = (input: Partial<EvmMessage>, record: boolean): CallResult => {
    const message = { from: RICH, to: undefined, data: NO_CODE, value: 0n, gas: 16_000_000 }
    const outcome = call(
      { state, block: BLOCK, onMiss: 'stop', record, maxSteps: 1e8 },
      { ...message, ...input },
    )
    if (outcome.kind !== 'done') throw new Error(`the run ended as ${JSON.stringify(outcome)}`)
    return outcome
  }

  /** Sends a transaction that must succeed. Returns its output. */
  const send = (to: Address, data: Hex, value = 0n, from = RICH): Hex => {
    const result = run({ to, data: fromHex(data), value, from }, false)
    if (!result.success) throw new Error(`a transaction to ${to} failed: ${toHex(result.output)}`)
    state = overlay(state, result.changes)
    return toHex(result.output)
  }

  const create2 = (initcode: Hex, withSalt: Hex = zeroHash): Address => {
    send(DEPLOYER, concatHex([withSalt, initcode]))
    const at = { from: DEPLOYER, salt: withSalt, bytecode: initcode }
    return getCreate2Address(at).toLowerCase() as Address
  }

  /** Puts code at an address of its own. */
  const place = (code: Hex, address: Address = `0x${keccak256(code).slice(-40)}`): Address => {
    state = overlay(state, new Map([[address, { code: fromHex(code), nonce: 1n }]]))
    return address
  }

  for (const { address, code } of contracts.placements) place(code(Number(BLOCK.chainId)), address)
  for (const { deployData } of contracts.deployments) send(DEPLOYER, deployData)
  const entryPoint: EntryPoint = createEntryPoint(version, contracts.entryPoint)

  const deposit = (account: Address) => {
    const data = encodeFunctionData({ abi: depositAbi, functionName: 'depositTo', args: [account] })
    send(entryPoint.address, data, 10n ** 18n)
  }

  let actors = 0
  return {
    version,
    entryPoint,
    /** SimpleAccountFactory */
    factory: contracts.factory,
    /** The state as it is now. */
    state: () => state,
    send,
    create2,
    deposit,
    /** A fresh actor, with a deposit and some ether of its own. */
    createActor(): Address {
      actors++
      const salt: Hex = `0x${actors.toString(16).padStart(64, '0')}`
      const address = create2(actorInitcode(), salt)
      send(address, '0x', 10n ** 18n)
      deposit(address)
      return address
    },
    place,
    /** Runs handleOps of this one operation, recorded, and forgets it. */
    handleOps(op: Operation, gas = 15_000_000): CallResult {
      const data = fromHex(entryPoint.encodeHandleOps([op], BENEFICIARY))
      return run({ to: entryPoint.address, data, gas }, true)
    },
    /** Runs any call, recorded, and forgets it. */
    record: (to: Address, data: Hex): CallResult => run({ to, data: fromHex(data) }, true),
  }
}

/** The account of `ownerKey` that a SimpleAccountFactory makes. */
export function simpleAccountOf(chain: MemoryChain, ownerKey: Hex) {
  const owner = privateKeyToAccount(ownerKey)
  const { factory } = chain
  const abi = parseAbi([
    'function createAccount(address owner, uint256 salt) returns (address)',
    'function getAddress(address owner, uint256 salt) view returns (address)',
  ])
  const args = [owner.address, 0n] as const
  const answer = chain.send(factory, encodeFunctionData({ abi, functionName: 'getAddress', args }))
  const sign = async (op: Operation): Promise<Operation> => {
    const hash = chain.entryPoint.hash(op, Number(BLOCK.chainId))
    const asMessage = chain.version === '0.6' || chain.version === '0.7'
    const signature = asMessage
      ? await owner.signMessage({ message: { raw: hash } })
      : await owner.sign({ hash })
    return { ...op, signature }
  }
  const factoryData = encodeFunctionData({ abi, functionName: 'createAccount', args })
  const address: Address = `0x${answer.slice(-40)}`
  return { address, factory, factoryData, sign }
}
