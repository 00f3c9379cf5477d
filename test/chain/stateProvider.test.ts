import { type Address, concatHex, type Hex, numberToHex, parseEther } from 'viem'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CannotSimulateError } from '../../src/base/errors/simulationErrors.js'
import { NodeUnavailableError } from '../../src/chain/nodeErrors.js'
import type { Operation } from '../../src/erc4337/operation.js'
import type { ValidationResult } from '../../src/simulation/engine.js'
import { startHttpNode } from '../support/chain/httpNode.js'
import { startPlainNode } from '../support/chain/plainNode.js'
import { openEngine, type TestEngine } from '../support/world/ground.js'
import { useVersionChain } from '../support/world.js'

const chain = useVersionChain('0.7')
let tank: Address
let count = 0
const open: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  tank = await chain().createTank(0)
})
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function freshEngine(url = chain().anvil.url): Promise<TestEngine> {
  const engine = await openEngine(url, chain().chainId)
  open.push(() => engine.close())
  return engine
}

async function sponsored(kind: 'deployed' | 'counterfactual', nonceKey = 0n) {
  const seed = `provided ${count++}`
  const drafted = { ...(await chain().draft(kind, seed)) }
  const op = nonceKey === 0n ? drafted : { ...drafted, nonce: nonceKey << 64n }
  return chain().sign(await chain().sponsor(op, tank), seed)
}

async function nextBlock(engine: TestEngine) {
  await chain().tester.mine({ blocks: 1 })
  await engine.heads.refresh()
}

describe('requests to the node', () => {
  test.each(['deployed', 'counterfactual'] as const)(
    'are at most 3 when nothing is known (%s), 1 in a new block, 0 in the same',
    async (kind) => {
      const op = await sponsored(kind)
      const engine = await freshEngine()
      const validate = () => engine.validate(chain().entryPoint, op)
      expect(await validate()).toMatchObject({ ok: true })
      expect(engine.batches().length).toBeLessThanOrEqual(3)
      expect(await validate()).toMatchObject({ ok: true })
      expect(engine.batches()).toEqual([])
      await nextBlock(engine)
      expect(await validate()).toMatchObject({ ok: true })
      expect(engine.batches()).toHaveLength(1)
    },
  )

  test.each(['deployed', 'counterfactual'] as const)(
    'are one for another sender of a known code (%s), also with another nonce key',
    async (kind) => {
      const [first, second, third] = [
        await sponsored(kind),
        await sponsored(kind),
        await sponsored(kind, 77n),
      ]
      const engine = await freshEngine()
      await engine.validate(chain().entryPoint, first)
      engine.batches()
      for (const op of [second, third]) {
        await nextBlock(engine)
        expect(await engine.validate(chain().entryPoint, op)).toMatchObject({ ok: true })
        expect(engine.batches()).toHaveLength(1)
      }
    },
  )

  test('are shared by operations that come at once', async () => {
    const ops: Operation[] = []
    for (let i = 0; i < 10; i++) ops.push(await sponsored('counterfactual'))
    const engine = await freshEngine()
    await engine.validate(chain().entryPoint, ops[0]!)
    await nextBlock(engine)
    engine.batches()
    const results = await Promise.all(ops.map((op) => engine.validate(chain().entryPoint, op)))
    expect(results.every(({ ok }) => ok)).toBe(true)
    expect(engine.batches()).toHaveLength(1)
  })

  test('ask no code twice that cannot change', async () => {
    const op = await sponsored('deployed')
    const asked: string[] = []
    const spy = await startPlainNode(chain().anvil.url, async (methods) => {
      asked.push(...methods)
    })
    open.push(() => spy.stop())
    const engine = await freshEngine(spy.url)
    await engine.validate(chain().entryPoint, op)
    expect(asked).toContain('eth_getCode')
    await nextBlock(engine)
    asked.length = 0
    await engine.validate(chain().entryPoint, op)
    expect(asked).toContain('eth_call')
    expect(asked.filter((method) => method === 'eth_getCode')).toEqual([])
  })
})

describe('the block', () => {
  test('is that of the head, and a new one brings new state', async () => {
    const seed = `provided ${count++}`
    const op = await chain().sign(await chain().draft('counterfactual', seed), seed)
    const engine = await freshEngine()
    expect(await engine.validate(chain().entryPoint, op)).toMatchObject({
      failure: { code: 'AA21' },
    })
    await chain().fund(op.sender)
    await nextBlock(engine)
    expect(await engine.validate(chain().entryPoint, op)).toMatchObject({ ok: true })
  })

  test('that is gone is replaced by the latest', async () => {
    const engine = await freshEngine()
    const seed = `provided ${count++}`
    const drafted = await chain().draft('counterfactual', seed)
    const op = await chain().sign(await chain().sponsor(drafted, tank), seed)
    await chain().undone(async () => {
      await nextBlock(engine)
    })
    expect(await engine.validate(chain().entryPoint, op)).toMatchObject({ ok: true })
  })

  test('whose reorg undoes an account is not remembered with its code', async () => {
    const engine = await freshEngine()
    const seed = `provided ${count++}`
    const op = await chain().sign(
      await chain().sponsor(await chain().draft('counterfactual', seed), tank),
      seed,
    )
    await chain().undone(async () => {
      await chain().handleOps([op])
      await engine.heads.refresh()
      expect(await engine.validate(chain().entryPoint, op)).toMatchObject({
        failure: { code: 'AA10' },
      })
    })
    await chain().tester.mine({ blocks: 3 })
    await engine.heads.refresh()
    expect(await engine.validate(chain().entryPoint, op)).toMatchObject({ ok: true })
  })

  test('whose reorg comes while its state is read leaves no code behind either', async () => {
    let hold: (() => Promise<void>) | undefined
    const node = await startHttpNode(async (body, response) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(chain().anvil.url, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      const text = await answer.text()
      if (JSON.stringify(body).includes('eth_call')) await hold?.()
      response.end(text)
    })
    open.push(() => node.stop())
    const engine = await freshEngine(node.url)
    // All code is known, so that the state comes in one answer.
    for (const kind of ['deployed', 'counterfactual', 'deployed'] as const) {
      const known = await sponsored(kind)
      await nextBlock(engine)
      await engine.validate(chain().entryPoint, known)
    }
    const op = await sponsored('counterfactual')
    let release = () => {}
    let validating: Promise<ValidationResult> | undefined
    await chain().undone(async () => {
      await chain().handleOps([op])
      await engine.heads.refresh()
      await new Promise<void>((isHeld) => {
        hold = () => {
          hold = undefined
          isHeld()
          return new Promise((resolve) => {
            release = resolve
          })
        }
        validating = engine.validate(chain().entryPoint, op)
      })
    })
    await chain().tester.mine({ blocks: 3 })
    await engine.heads.refresh()
    release()
    await validating
    expect(await engine.validate(chain().entryPoint, op)).toMatchObject({ ok: true })
  })

  test('is read by number where the node cannot by hash, and read again when replaced', async () => {
    const op = await sponsored('deployed')
    let replace = 0
    const node = await startPlainNode(chain().anvil.url, async (methods) => {
      if (replace === 0 || !methods.includes('eth_call')) return
      replace--
      await chain().tester.request({ method: 'anvil_reorg', params: [1, []] } as never)
    })
    open.push(() => node.stop())
    const engine = await freshEngine(node.url)
    const validated = await engine.validate(chain().entryPoint, op)
    expect(validated).toMatchObject({ ok: true })
    await nextBlock(engine)
    await nextBlock(engine)
    replace = 1
    engine.batches()
    expect(withoutBlock(await engine.validate(chain().entryPoint, op))).toEqual(
      withoutBlock(validated),
    )
    expect(replace).toBe(0)
    expect(engine.batches().length).toBeGreaterThan(1)
  })
})

describe('what cannot be run', () => {
  test('is said as such: too many instructions', async () => {
    const seed = `provided ${count++}`
    const drafted = await chain().draft('deployed', seed, chain().onTarget('burn', 10_000_000n))
    const op = {
      ...drafted,
      callGasLimit: 2_000_000_000n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
    }
    await chain().fund(op.sender, parseEther('100'))
    await chain().engine.heads.refresh()
    const engine = await freshEngine()
    const executed = engine.execute(chain().entryPoint, await chain().sign(op, seed))
    await expect(executed).rejects.toBeInstanceOf(CannotSimulateError)
  })

  const FIRST = 0x7000000000000000000000000000000000000000n
  const READER = '0x00000000000000000000000000000000000c0de1'
  const setCode = (address: Address, code: Hex) =>
    chain().tester.request({ method: 'anvil_setCode', params: [address, code] } as never)

  /** Executes a call that asks for the size of the code of so many accounts from FIRST on. */
  async function readSizes(engine: TestEngine, accounts: number) {
    const [size, first] = [numberToHex(accounts, { size: 2 }), numberToHex(FIRST, { size: 20 })]
    const code = concatHex(['0x61', size, '0x5b8073', first, '0x013b50600190038060035700'])
    await setCode(READER, code)
    const seed = `provided ${count++}`
    const drafted = await chain().draft('deployed', seed, { to: READER, data: '0x' })
    const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
    const op = { ...drafted, ...fees, callGasLimit: 10_000_000n }
    await chain().fund(op.sender, parseEther('1'))
    await nextBlock(engine)
    return engine.execute(chain().entryPoint, await chain().sign(op, seed))
  }

  test('is said as such: megabytes of code, of which little is read', async () => {
    const codes = 400
    for (let i = 1; i <= codes; i++)
      await setCode(
        numberToHex(FIRST + BigInt(i), { size: 20 }),
        concatHex(['0x00', numberToHex(i, { size: 4 }), `0x${'5b'.repeat(24_000)}`]),
      )
    const asked: string[] = []
    const node = await startPlainNode(chain().anvil.url, async (methods) => {
      asked.push(...methods)
    })
    open.push(() => node.stop())
    const engine = await freshEngine(node.url)
    await expect(readSizes(engine, codes)).rejects.toBeInstanceOf(CannotSimulateError)
    expect(asked.filter((method) => method === 'eth_getCode').length).toBeLessThan(codes)
  })

  test('is no execution that touches hundreds of accounts without code', async () => {
    for (let i = 1; i <= 400; i++) await setCode(numberToHex(FIRST + BigInt(i), { size: 20 }), '0x')
    expect(await readSizes(await freshEngine(), 400)).toMatchObject({ ok: true, success: true })
  })

  test('is trouble of the node when it has no state', async () => {
    const node = await startPlainNode(chain().anvil.url)
    const engine = await freshEngine(node.url)
    await node.stop()
    const op = await sponsored('counterfactual')
    await expect(engine.validate(chain().entryPoint, op)).rejects.toBeInstanceOf(
      NodeUnavailableError,
    )
  })
})

/** The same verdict of another block. */
function withoutBlock(result: ValidationResult) {
  return result.ok
    ? { ...result.validation, observed: { ...result.validation.observed, blockHash: undefined } }
    : result
}
