import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
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
  getUserOperationHash,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type BlockEnv,
  type Call,
  call,
  fromHex,
  type Outcome,
  toHex,
} from '../../src/evm/index.js'
import { type Anvil, createNodeState, latestBlock, startAnvil } from './anvil.js'
import { createRandom } from './random.js'

const DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const RICH: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const ENTRY_POINT = entryPoint06Address.toLowerCase() as Address
const NOBODY: Address = `0x${'00'.repeat(20)}`
/** Selector of the error in which simulateValidation reports success. */
const VALIDATION_RESULT = '0xe0cff05f'
const MUTATIONS = 200
const SEED = 7
const owner = privateKeyToAccount(keccak256('0x01'))

type Artifact = { bytecode: Hex }

function artifact(name: string): Artifact {
  const path = createRequire(import.meta.url).resolve(
    `account-abstraction-v06/artifacts/${name}.json`,
  )
  return JSON.parse(readFileSync(path, 'utf8'))
}

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

async function create2(anvil: Anvil, initcode: Hex): Promise<Address> {
  await send(anvil, DEPLOYER, concatHex([padHex('0x', { size: 32 }), initcode]))
  const preimage = concatHex(['0xff', DEPLOYER, padHex('0x', { size: 32 }), keccak256(initcode)])
  return `0x${keccak256(preimage).slice(-40)}`
}

/** Runs a call, reading every round of misses from the node. */
async function callOnNode(
  anvil: Anvil,
  block: BlockEnv,
  input: Call,
): Promise<Outcome & { kind: 'done' }> {
  const state = createNodeState(anvil)
  for (;;) {
    const run = { state, block, onMiss: 'guess', record: true, maxSteps: 1e8 } as const
    const outcome = call(run, input)
    if (outcome.kind === 'done') return outcome
    if (outcome.kind !== 'missing') throw new Error(JSON.stringify(outcome))
    await state.fetch(outcome.misses)
  }
}

describe('EntryPoint v0.6 on our EVM, compared with anvil', () => {
  let anvil: Anvil
  let block: BlockEnv
  let factory: Address
  let sender: Address

  beforeAll(async () => {
    anvil = await startAnvil('osaka')
    expect(await create2(anvil, artifact('EntryPoint').bytecode)).toBe(ENTRY_POINT)
    const argument = encodeAbiParameters([{ type: 'address' }], [ENTRY_POINT])
    factory = await create2(anvil, concatHex([artifact('SimpleAccountFactory').bytecode, argument]))
    const answer = await anvil.request<Hex>('eth_call', [
      { to: factory, data: factoryCall('getAddress') },
      'latest',
    ])
    sender = `0x${answer.slice(-40)}`
    const deposit = encodeFunctionData({
      abi: entryPoint06Abi,
      functionName: 'depositTo',
      args: [sender],
    })
    await send(anvil, ENTRY_POINT, deposit, 10n ** 18n)
    block = await latestBlock(anvil, 'osaka')
  })

  afterAll(async () => anvil?.stop())

  function factoryCall(functionName: 'getAddress' | 'createAccount'): Hex {
    const inputs = [{ type: 'address' }, { type: 'uint256' }] as const
    const selector = functionName === 'getAddress' ? '0x8cb84e18' : '0x5fbfb9cf'
    return concatHex([selector, encodeAbiParameters(inputs, [owner.address, 0n])])
  }

  async function operation(initCode: Hex) {
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
      chainId: 31_337,
      entryPointAddress: entryPoint06Address,
      entryPointVersion: '0.6',
      userOperation: op,
    })
    return { ...op, signature: await owner.signMessage({ message: { raw: hash } }) }
  }

  async function same(input: Call) {
    const outcome = await callOnNode(anvil, block, input)
    const tx = {
      from: input.from,
      to: input.to,
      data: toHex(input.data),
      gas: numberToHex(input.gas),
    }
    type Trace = { gasUsed: Hex; output?: Hex; error?: string }
    const trace = await anvil.request<Trace>('debug_traceCall', [
      tx,
      'latest',
      { tracer: 'callTracer' },
    ])
    expect(toHex(outcome.output)).toBe(trace.output ?? '0x')
    expect(outcome.gasUsed).toBe(Number(trace.gasUsed))
    return outcome
  }

  async function simulateValidation(initCode: Hex) {
    const data = encodeFunctionData({
      abi: entryPoint06Abi,
      functionName: 'simulateValidation',
      args: [await operation(initCode)],
    })
    const message = { from: NOBODY, to: ENTRY_POINT, data: fromHex(data), value: 0n }
    const outcome = await same({ ...message, gas: 5_000_000 })
    expect(toHex(outcome.output).slice(0, 10)).toBe(VALIDATION_RESULT)
  }

  it('simulateValidation of an operation that creates its account', async () => {
    await simulateValidation(concatHex([factory, factoryCall('createAccount')]))
  })

  it('handleOps', async () => {
    const data = encodeFunctionData({
      abi: entryPoint06Abi,
      functionName: 'handleOps',
      args: [[await operation(concatHex([factory, factoryCall('createAccount')]))], RICH],
    })
    const input = { from: RICH, to: ENTRY_POINT, data: fromHex(data), value: 0n, gas: 5_000_000 }
    const outcome = await same(input)
    expect(outcome.success).toBe(true)
    expect(outcome.logs.length).toBeGreaterThan(3)
  })

  it(`${MUTATIONS} damaged handleOps, whatever becomes of them (seed ${SEED})`, async () => {
    const random = createRandom(SEED)
    const initCode = concatHex([factory, factoryCall('createAccount')])
    const data = encodeFunctionData({
      abi: entryPoint06Abi,
      functionName: 'handleOps',
      args: [[await operation(initCode)], RICH],
    })
    for (let i = 0; i < MUTATIONS; i++) {
      const damaged = fromHex(data)
      for (let flips = 1 + random.below(3); flips > 0; flips--) {
        damaged[4 + random.below(damaged.length - 4)] = random.pick([0, 1, 0xff, random.below(256)])
      }
      await same({ from: RICH, to: ENTRY_POINT, data: damaged, value: 0n, gas: 5_000_000 })
    }
  })

  it('simulateValidation of an operation of an existing account', async () => {
    await send(anvil, factory, factoryCall('createAccount'))
    await simulateValidation('0x')
  })
})
