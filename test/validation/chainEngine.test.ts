import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { startHeadFollower } from '../../src/chain/headFollower.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { createEntryPoint } from '../../src/entrypoint/index.js'
import { createChainEngine } from '../../src/validation/chainEngine.js'
import { type EngineChain, openEngineChain } from '../support/engineChain.js'
import { startHttpNode } from '../support/httpNode.js'

const open: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const openChain = async (version: '0.6' | '0.7') => {
  const chain = await openEngineChain(version)
  open.push(() => chain.close())
  return chain
}

/** The engine as the service makes it, on `rpcUrl`, and what it logs. */
const openChainEngine = async (rpcUrl: string, { chainId, entryPoint }: EngineChain) => {
  const logged: { level: number; msg: string }[] = []
  const logger = pino({ level: 'info' }, { write: (line) => logged.push(JSON.parse(line)) })
  const node = createNodeClient({ urls: [rpcUrl], logger })
  open.push(() => node.close())
  const definition = { chainId, pollInterval: 60_000 }
  const heads = await startHeadFollower({ node, definition, logger })
  open.push(() => heads.stop())
  const { version, address } = entryPoint
  const entryPoints = [createEntryPoint(version, address)]
  const asked: number[] = []
  const onBatch = (calls: number) => asked.push(calls)
  const engine = await createChainEngine({ node, heads, chainId, entryPoints, logger, onBatch })
  open.push(() => engine.stop())
  asked.length = 0
  return { engine, logged, asked }
}

/** In front of a real node: `change` sees each answer before it is passed on. */
const startChangedNode = async (
  target: string,
  change: (method: string, params: unknown[], answer: { result?: unknown }) => unknown,
) => {
  const node = await startHttpNode(async (body, response) => {
    const requests = (Array.isArray(body) ? body : [body]) as {
      method: string
      params: unknown[]
    }[]
    const got = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(requests),
    })
    const answers = (await got.json()) as { result?: unknown }[]
    const all = answers.map((answer, at) => {
      const { method = '', params = [] } = requests[at] ?? {}
      return change(method, params, answer)
    })
    response.end(JSON.stringify(Array.isArray(body) ? all : all[0]))
  })
  open.push(() => node.stop())
  return node.url
}

/** A node by whose count everything costs one unit of gas more. */
const dearer = (method: string, _: unknown[], answer: { result?: unknown }) => {
  if (method !== 'debug_traceCall') return answer
  const { gasUsed, ...rest } = answer.result as { gasUsed: string }
  return { ...answer, result: { ...rest, gasUsed: `0x${(BigInt(gasUsed) + 1n).toString(16)}` } }
}

/** A node without PUSH0 and what came later: all calls that show a fork fail. */
const beforeShanghai = (method: string, params: unknown[], answer: { result?: unknown }) => {
  const [request] = params as [{ from?: string; data?: string } | undefined]
  const isProbe = method === 'eth_call' && request?.from === undefined
  const { result: _, ...rest } = answer
  return isProbe && (request?.data?.length ?? 0) < 600
    ? { ...rest, error: { code: -32000, message: 'invalid opcode' } }
    : answer
}

const alarms = (logged: readonly { level: number; msg: string }[]) =>
  logged.filter(({ level }) => level >= 50).map(({ msg }) => msg)

describe('the engine of a chain', () => {
  test('runs in-process where our EVM and the node agree', async () => {
    const chain = await openChain('0.7')
    const { engine, logged, asked } = await openChainEngine(chain.anvil.rpcUrl, chain)
    expect(logged.map(({ msg }) => msg)).toContain('our EVM agrees with the node')
    const drafted = await chain.draft('counterfactual', 'someone')
    await chain.fund(drafted.sender)
    const op = await chain.sign(drafted, 'someone')
    expect(await engine.validate(chain.entryPoint, op)).toMatchObject({ ok: true })
    expect(asked.length).toBeGreaterThan(0)
    expect(alarms(logged)).toEqual([])
  })

  test('asks the node for v0.6, with an alarm, where a unit of gas differs', async () => {
    const chain = await openChain('0.6')
    const url = await startChangedNode(chain.anvil.rpcUrl, dearer)
    const { engine, logged, asked } = await openChainEngine(url, chain)
    expect(alarms(logged)).toEqual(['our EVM DIFFERS from the node'])
    const drafted = await chain.draft('counterfactual', 'someone')
    await chain.fund(drafted.sender)
    const op = await chain.sign(drafted, 'someone')
    expect(await engine.validate(chain.entryPoint, op)).toMatchObject({ ok: true })
    expect(asked).toEqual([])
  })

  test('refuses what nobody can simulate, with the reason', async () => {
    const chain = await openChain('0.7')
    const url = await startChangedNode(chain.anvil.rpcUrl, dearer)
    const { engine } = await openChainEngine(url, chain)
    const op = await chain.draft('counterfactual', 'someone')
    await expect(engine.validate(chain.entryPoint, op)).rejects.toMatchObject({
      name: 'CannotSimulateError',
      message: expect.stringContaining('does not agree with the node'),
    })
  })

  test('asks the node for v0.6, with an alarm, on a chain older than our EVM', async () => {
    const chain = await openChain('0.6')
    const url = await startChangedNode(chain.anvil.rpcUrl, beforeShanghai)
    const { engine, logged } = await openChainEngine(url, chain)
    expect(alarms(logged)).toEqual(['our EVM cannot run this chain'])
    const drafted = await chain.draft('counterfactual', 'someone')
    await chain.fund(drafted.sender)
    const op = await chain.sign(drafted, 'someone')
    expect(await engine.validate(chain.entryPoint, op)).toMatchObject({ ok: true })
  })

  test('a refusal is told of the newest state, whether or not a block brought it', async () => {
    const chain = await openChain('0.7')
    const { engine } = await openChainEngine(chain.anvil.rpcUrl, chain)
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
