import type { Hex } from 'viem'
import { afterEach, describe, expect, test } from 'vitest'
import type { EngineChoice } from '../../src/erc4337/validationSettings.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import { alerts, fundedOperation, openChainEngine } from '../support/chain/openChainEngine.js'
import { openGround } from '../support/world/ground.js'
import type { VersionChain } from '../support/world/versionChain.js'

const open: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function openChain(version: '0.6' | '0.7') {
  const ground = await openGround()
  open.push(ground.stop)
  return ground.at(version)
}

async function opened(url: string, chain: VersionChain, choice?: EngineChoice) {
  const engine = await openChainEngine(url, chain, choice)
  open.push(() => engine.close())
  return engine
}

async function changedNode(...change: Parameters<typeof startChangedNode>) {
  const node = await startChangedNode(...change)
  open.push(() => node.stop())
  return node.url
}

/** A node by whose count everything costs one unit of gas more. */
function addGas(method: string, _: unknown[], answer: { result?: unknown }) {
  if (method !== 'debug_traceCall' || answer.result === undefined) return answer
  const { gasUsed, ...rest } = answer.result as { gasUsed: string }
  return { ...answer, result: { ...rest, gasUsed: `0x${(BigInt(gasUsed) + 1n).toString(16)}` } }
}

/** A node without PUSH0 and what came later: all calls that show a fork fail. */
function beforeShanghai(method: string, params: unknown[], answer: { result?: unknown }) {
  const [request] = params as [{ from?: string; data?: string } | undefined]
  const isProbe = method === 'eth_call' && request?.from === undefined
  const { result: _, ...rest } = answer
  return isProbe && (request?.data?.length ?? 0) < 600
    ? { ...rest, error: { code: -32000, message: 'invalid opcode' } }
    : answer
}

/** A node without debug methods. */
function withoutDebug(method: string, _: unknown[], answer: { result?: unknown }) {
  if (method !== 'debug_traceCall') return answer
  const { result: __, ...rest } = answer
  return { ...rest, error: { code: -32601, message: 'the method does not exist' } }
}

/** A node of a chain that has a precompile of its own at 0x2b00. */
function withOwnPrecompile(method: string, _: unknown[], answer: { result?: unknown }) {
  if (method !== 'eth_config') return answer
  const precompiles = { OWN: '0x0000000000000000000000000000000000002b00' }
  return { ...answer, error: undefined, result: { current: { precompiles } } }
}

/** An account that calls it, and agrees to everything. */
const asksOwnPrecompile: Hex = '0x5f5f5f5f612b005afa505f5f5260205ff3'

describe('the engine of a chain', () => {
  test('runs in-process where our EVM and the node agree', async () => {
    const chain = await openChain('0.7')
    const { engine, logged, asked } = await opened(chain.anvil.url, chain)
    expect(logged.map(({ msg }) => msg)).toContain('our EVM agrees with the node')
    const op = await fundedOperation(chain)
    expect(await engine.validate(chain.entryPoint, op)).toMatchObject({ ok: true })
    expect(asked.length).toBeGreaterThan(0)
    expect(alerts(logged)).toEqual([])
  })

  test.each(['0.6', '0.7'] as const)(
    'has the node trace v%s, with an alert, where a unit of gas differs',
    async (version) => {
      const chain = await openChain(version)
      const url = await changedNode(chain.anvil.url, addGas)
      const { engine, logged, asked, ran } = await opened(url, chain)
      expect(alerts(logged)).toEqual(['our EVM DIFFERS from the node'])
      const op = await fundedOperation(chain)
      expect(await engine.validate(chain.entryPoint, op)).toMatchObject({
        ok: true,
        validation: { observed: { kind: 'record' } },
      })
      expect(ran).toEqual(['trace'])
      expect(asked).toEqual([])
    },
  )

  test('has the node trace what our EVM cannot run, if it may, and says so', async () => {
    const chain = await openChain('0.7')
    const url = await changedNode(chain.anvil.url, withOwnPrecompile)
    const op = await fundedOperation(chain)
    await chain.deposit(op.sender, chain.entryPoint.requiredPrefund(op))
    const asking = { ...op, factory: undefined, factoryData: '0x' as const }
    const override = { [op.sender]: { code: asksOwnPrecompile } }
    const auto = await opened(url, chain)
    const alone = await opened(url, chain, 'inProcess')
    const validate = ({ engine }: typeof auto) =>
      engine.validate(chain.entryPoint, asking, override)
    await expect(validate(alone)).rejects.toMatchObject({ name: 'CannotSimulateError' })
    expect(await validate(auto)).toMatchObject({
      ok: true,
      validation: { observed: { kind: 'record' } },
    })
    const warned = auto.logged.map(({ msg }) => msg)
    expect(warned).toContain('our EVM cannot validate an operation')
    expect([auto.ran, alone.ran]).toEqual([['trace'], []])
  })

  test('is the node alone where the operator wants it', async () => {
    const chain = await openChain('0.7')
    const { engine, ran, asked } = await opened(chain.anvil.url, chain, 'node')
    const op = await fundedOperation(chain)
    expect(await engine.validate(chain.entryPoint, op)).toMatchObject({ ok: true })
    expect(ran).toEqual(['trace'])
    expect(asked).toEqual([])
    expect(await engine.execute(chain.entryPoint, op)).toMatchObject({ ok: true, success: true })
    expect(asked.length).toBeGreaterThan(0)
  })

  test('says so where the node refuses to trace an operation', async () => {
    const chain = await openChain('0.7')
    let refuses = false
    const url = await changedNode(chain.anvil.url, (method, _params, answer) => {
      if (!refuses || method !== 'debug_traceCall') return answer
      const { result: _, ...rest } = answer
      return { ...rest, error: { code: -32000, message: 'execution timeout' } }
    })
    const { engine, logged } = await opened(url, chain, 'node')
    const op = await fundedOperation(chain)
    refuses = true
    await expect(engine.validate(chain.entryPoint, op)).rejects.toMatchObject({
      rule: 'TRACE_REFUSED',
      message: expect.stringContaining('refused or aborted the trace of this operation'),
      retryAfter: 1,
    })
    expect(logged.at(-1)).toMatchObject({
      msg: 'the node refuses to trace an operation',
      reason: 'NodeRpcError: execution timeout',
    })
  })

  test('without a tracer has its result only', async () => {
    for (const version of ['0.6', '0.7'] as const) {
      const chain = await openChain(version)
      const url = await changedNode(chain.anvil.url, withoutDebug)
      const { engine, ran } = await opened(url, chain, 'node')
      const op = await fundedOperation(chain)
      expect(await engine.validate(chain.entryPoint, op)).toMatchObject({
        validation: { observed: { kind: 'resultOnly' } },
      })
      expect(ran).toEqual(['resultOnly'])
    }
  })

  test('refuses what nobody may simulate, with the reason', async () => {
    const chain = await openChain('0.7')
    const url = await changedNode(chain.anvil.url, addGas)
    const { engine } = await opened(url, chain, 'inProcess')
    const op = await chain.draft('counterfactual', 'someone')
    await expect(engine.validate(chain.entryPoint, op)).rejects.toMatchObject({
      name: 'CannotSimulateError',
      message: expect.stringContaining('disagrees with the node'),
    })
  })

  test('asks the node for v0.6, with an alert, on a chain older than our EVM', async () => {
    const chain = await openChain('0.6')
    const url = await changedNode(chain.anvil.url, beforeShanghai)
    const { engine, logged } = await opened(url, chain)
    expect(alerts(logged)).toEqual(['our EVM cannot run this chain'])
    const op = await fundedOperation(chain)
    expect(await engine.validate(chain.entryPoint, op)).toMatchObject({ ok: true })
  })

  test('a refusal refers to the newest state, whether or not a block brought it', async () => {
    const chain = await openChain('0.7')
    const { engine } = await opened(chain.anvil.url, chain)
    const op = await chain.sign(await chain.draft('counterfactual', 'poor'), 'poor')
    const validate = () => engine.validate(chain.entryPoint, op)
    expect(await validate()).toMatchObject({ ok: false, failure: { code: 'AA21' } })
    await chain.fund(op.sender)
    expect(await validate()).toMatchObject({ ok: true })
    const rich = await chain.sign(await chain.draft('counterfactual', 'rich'), 'rich')
    await chain.deposit(rich.sender, chain.entryPoint.requiredPrefund(rich))
    expect(await engine.validate(chain.entryPoint, rich)).toMatchObject({ ok: true })
  })
})
