import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Abi,
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  padHex,
} from 'viem'
import {
  entryPoint06Abi,
  entryPoint06Address,
  entryPoint07Abi,
  entryPoint07Address,
  entryPoint08Abi,
  entryPoint08Address,
  getUserOperationHash,
  toPackedUserOperation,
  type UserOperation,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type BlockEnv,
  type CallResult,
  call,
  type EvmMessage,
  fromHex,
  type Overrides,
  overlay,
  toHex,
} from '../../src/evm/index.js'
import { randomRuns } from '../support/runs.js'
import { type Anvil, createNodeState, latestBlock, startAnvil } from './anvil.js'
import { createRandom } from './random.js'

const DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const RICH: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const NOBODY: Address = `0x${'00'.repeat(20)}`
const NO_SALT = padHex('0x', { size: 32 })
const MUTATIONS = randomRuns(150)
const SEED = 7
const owner = privateKeyToAccount(keccak256('0x01'))

type Version = {
  version: '0.6' | '0.7' | '0.8'
  artifacts: string
  abi: Abi
  address: Address
  salt: Hex
}

const VERSIONS: Version[] = [
  {
    version: '0.6',
    artifacts: 'account-abstraction-v06',
    abi: entryPoint06Abi,
    address: entryPoint06Address,
    salt: NO_SALT,
  },
  {
    version: '0.7',
    artifacts: 'account-abstraction-v07',
    abi: entryPoint07Abi,
    address: entryPoint07Address,
    salt: '0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3',
  },
  {
    version: '0.8',
    artifacts: 'account-abstraction-v08',
    abi: entryPoint08Abi,
    address: entryPoint08Address,
    salt: '0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9',
  },
]

type Artifact = { bytecode: Hex; deployedBytecode: Hex; abi: Abi }

async function send(anvil: Anvil, to: Address, data: Hex, value = 0n): Promise<void> {
  const tx = { from: RICH, to, data, value: numberToHex(value), gas: numberToHex(8_000_000) }
  const hash = await anvil.request<Hex>('eth_sendTransaction', [tx])
  for (;;) {
    const receipt = await anvil.request<{ status: Hex } | null>('eth_getTransactionReceipt', [hash])
    if (receipt === null) continue
    expect(receipt.status).toBe('0x1')
    return
  }
}

async function create2(anvil: Anvil, initcode: Hex, salt: Hex): Promise<Address> {
  await send(anvil, DEPLOYER, concatHex([salt, initcode]))
  return `0x${keccak256(concatHex(['0xff', DEPLOYER, salt, keccak256(initcode)])).slice(-40)}`
}

describe.each(VERSIONS)('EntryPoint $version on our EVM, compared with anvil', (entryPoint) => {
  const { version, abi } = entryPoint
  const at = entryPoint.address.toLowerCase() as Address
  let anvil: Anvil
  let block: BlockEnv
  let factory: Address
  let sender: Address

  beforeAll(async () => {
    anvil = await startAnvil('osaka')
    expect(await create2(anvil, artifact('EntryPoint').bytecode, entryPoint.salt)).toBe(at)
    const argument = encodeAbiParameters([{ type: 'address' }], [at])
    const initcode = concatHex([artifact('SimpleAccountFactory').bytecode, argument])
    factory = await create2(anvil, initcode, NO_SALT)
    const view = { to: factory, data: factoryCall('getAddress') }
    sender = `0x${(await anvil.request<Hex>('eth_call', [view, 'latest'])).slice(-40)}`
    const deposit = encodeFunctionData({ abi, functionName: 'depositTo', args: [sender] })
    await send(anvil, at, deposit, 10n ** 18n)
    block = await latestBlock(anvil, 'osaka')
  })

  afterAll(async () => anvil?.stop())

  function artifact(name: string): Artifact {
    const require = createRequire(import.meta.url)
    const path = require.resolve(`${entryPoint.artifacts}/artifacts/${name}.json`)
    return JSON.parse(readFileSync(path, 'utf8'))
  }

  function factoryCall(functionName: 'getAddress' | 'createAccount'): Hex {
    const { abi } = artifact('SimpleAccountFactory')
    return encodeFunctionData({ abi, functionName, args: [owner.address, 0n] })
  }

  /** A signed operation of the account, as an argument of this version's functions. */
  async function operation(creates: boolean): Promise<unknown> {
    const common = {
      sender,
      nonce: creates ? 0n : 1n,
      callData: '0x',
      callGasLimit: 50_000n,
      verificationGasLimit: 500_000n,
      preVerificationGas: 50_000n,
      maxFeePerGas: 3_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      signature: '0x',
    } as const
    const data = creates ? factoryCall('createAccount') : '0x'
    const initCode = creates ? concatHex([factory, data]) : '0x'
    const unsigned =
      version === '0.6'
        ? { ...common, initCode, paymasterAndData: '0x' }
        : { ...common, ...(creates && { factory, factoryData: data }) }
    const raw = getUserOperationHash({
      chainId: Number(block.chainId),
      entryPointAddress: entryPoint.address,
      entryPointVersion: version,
      userOperation: unsigned as UserOperation<'0.7'>,
    } as Parameters<typeof getUserOperationHash>[0])
    const signature =
      version === '0.8'
        ? await owner.sign({ hash: raw })
        : await owner.signMessage({ message: { raw } })
    const signed = { ...unsigned, signature }
    return version === '0.6' ? signed : toPackedUserOperation(signed as UserOperation<'0.7'>)
  }

  async function callOnNode(input: EvmMessage, overrides: Overrides): Promise<CallResult> {
    const node = createNodeState(anvil)
    const state = overlay(node, overrides)
    for (;;) {
      const run = { state, block, onMiss: 'guess', record: true, maxSteps: 1e8 } as const
      const outcome = call(run, input)
      if (outcome.kind === 'done') return outcome
      if (outcome.kind !== 'missing') throw new Error(JSON.stringify(outcome))
      await node.fetch(outcome.misses)
    }
  }

  /** Runs `data` on the EntryPoint here and there; output and gas must be equal. */
  async function same(from: Address, data: Uint8Array, code?: Hex): Promise<CallResult> {
    const gas = 5_000_000
    const overrides = new Map(code === undefined ? [] : [[at, { code: fromHex(code) }] as const])
    const result = await callOnNode({ from, to: at, data, value: 0n, gas }, overrides)
    const tx = { from, to: at, data: toHex(data), gas: numberToHex(gas) }
    const options = {
      tracer: 'callTracer',
      blockOverrides: { time: numberToHex(block.timestamp) },
      ...(code !== undefined && { stateOverrides: { [at]: { code } } }),
    }
    type Trace = { gasUsed: Hex; output?: Hex }
    const trace = await anvil.request<Trace>('debug_traceCall', [tx, 'latest', options])
    expect(toHex(result.output)).toBe(trace.output ?? '0x')
    expect(result.gasUsed).toBe(Number(trace.gasUsed))
    return result
  }

  async function handleOps(): Promise<Uint8Array> {
    const args = [[await operation(true)], RICH]
    return fromHex(encodeFunctionData({ abi, functionName: 'handleOps', args }))
  }

  /** simulateValidation: built in and reverting in v0.6, laid over the EntryPoint since. */
  async function simulateValidation(creates: boolean): Promise<void> {
    const simulations = version === '0.6' ? undefined : artifact('EntryPointSimulations')
    const args = [await operation(creates)]
    const from = simulations?.abi ?? abi
    const data = encodeFunctionData({ abi: from, functionName: 'simulateValidation', args })
    const result = await same(NOBODY, fromHex(data), simulations?.deployedBytecode)
    expect(result.success).toBe(version !== '0.6')
    if (version === '0.6') expect(toHex(result.output).slice(0, 10)).toBe('0xe0cff05f')
  }

  it('simulateValidation of an operation that creates its account', async () => {
    await simulateValidation(true)
  })

  it('handleOps', async () => {
    const result = await same(RICH, await handleOps())
    expect(result.success).toBe(true)
    expect(result.logs.length).toBeGreaterThan(3)
  })

  it(`${MUTATIONS} damaged handleOps, whatever becomes of them (seed ${SEED})`, async () => {
    const random = createRandom(SEED)
    const whole = await handleOps()
    for (let i = 0; i < MUTATIONS; i++) {
      const damaged = whole.slice()
      for (let flips = 1 + random.below(3); flips > 0; flips--) {
        damaged[4 + random.below(damaged.length - 4)] = random.pick([0, 1, 0xff, random.below(256)])
      }
      await same(RICH, damaged)
    }
  })

  it('simulateValidation of an operation of an existing account', async () => {
    await send(anvil, at, toHex(await handleOps()))
    await simulateValidation(false)
  })
})
