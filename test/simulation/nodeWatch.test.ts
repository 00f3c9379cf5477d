import { concatHex, type Hex, numberToHex } from 'viem'
import { afterEach, describe, expect, test } from 'vitest'
import { depositSlot } from '../../src/erc4337/encoding/storageLayout.js'
import type { Operation } from '../../src/erc4337/operation.js'
import type { ValidationResult } from '../../src/simulation/engine.js'
import { HANDLER } from '../../src/simulation/inProcess/simulateOperation.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import { alerts, fundedOperation, openChainEngine } from '../support/chain/openChainEngine.js'
import { requesterOf } from '../support/requesterOf.js'
import { until } from '../support/until.js'
import { useVersionChain } from '../support/world.js'

const open: (() => Promise<unknown>)[] = []
const chain = useVersionChain('0.7')
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

type Options = { readonly share?: number; readonly url?: string }

async function start({ share = 0, url = chain().anvil.url }: Options = {}) {
  const engine = await openChainEngine(url, chain(), 'auto', share)
  open.push(() => engine.close())
  return engine
}

/** The outcomes of comparisons, once there are so many. */
function outcomes({ compared }: { compared: readonly string[] }, count: number) {
  return until(async () => compared.length >= count && [...compared])
}

function gasOf(result: ValidationResult) {
  if (!result.ok) throw new Error(result.failure.message)
  return result.validation.verificationGasUsed
}

/** The operation of an account that pretends to be `code`, and has paid. */
async function withCode(op: Operation, code: Hex) {
  await chain().deposit(op.sender, chain().entryPoint.requiredPrefund(op))
  const existing = { ...op, factory: undefined, factoryData: '0x' as const }
  return [chain().entryPoint, existing, { [op.sender]: { code } }] as const
}

type Traced = { calls?: { input: string }[] }

/** A node on which each validation that ends costs one unit of gas more. */
function dearerInside(_: string, [, , options]: unknown[], answer: { result?: unknown }) {
  if ((options as { tracer?: string } | undefined)?.tracer !== 'callTracer') return answer
  const { innerHandleOp, preOpGasAt } = chain().entryPoint.callLayout
  for (const call of (answer.result as Traced).calls ?? []) {
    if (!call.input.startsWith(innerHandleOp)) continue
    const [from, to] = [2 + 2 * preOpGasAt, 2 + 2 * (preOpGasAt + 32)]
    const raised = BigInt(`0x${call.input.slice(from, to)}`) + 1n
    const word = numberToHex(raised, { size: 32 }).slice(2)
    call.input = call.input.slice(0, from) + word + call.input.slice(to)
  }
  return answer
}

describe('validations of our EVM, compared with the node', () => {
  test('are compared once for each new code', async () => {
    const engine = await start()
    const validate = async (seed: string, code?: Hex) => {
      const op = await fundedOperation(chain(), seed)
      const result =
        code === undefined
          ? await engine.engine.validate(chain().entryPoint, op)
          : await engine.engine.validate(...(await withCode(op, code)))
      expect(result).toMatchObject({ ok: true })
    }
    await validate('first')
    expect(await outcomes(engine, 1)).toEqual(['agrees'])
    await validate('second')
    await validate('third', '0x5f5f5260205ff3')
    expect(await outcomes(engine, 2)).toEqual(['agrees', 'agrees'])
    expect(alerts(engine.logged)).toEqual([])
    expect(engine.engine.trouble()).toBeUndefined()
  })

  test('are all compared with a share of 1', async () => {
    const engine = await start({ share: 1 })
    const op = await fundedOperation(chain())
    for (const count of [1, 2, 3]) {
      await engine.engine.validate(chain().entryPoint, op)
      expect(await outcomes(engine, count)).toEqual(Array(count).fill('agrees'))
    }
  })

  test('that differ raise an alert with all that reproduces it; the node validates such code from then on', async () => {
    const node = await startChangedNode(chain().anvil.url, dearerInside)
    open.push(() => node.stop())
    const engine = await start({ url: node.url })
    const op = await fundedOperation(chain())
    const ours = gasOf(await engine.engine.validate(chain().entryPoint, op))
    expect(await outcomes(engine, 1)).toEqual(['differs'])
    const alert = engine.logged.find(({ level }) => level >= 50)
    expect(alert).toMatchObject({
      msg: 'our EVM DIFFERS from the node',
      entryPoint: chain().entryPoint.address,
      operation: { sender: op.sender, signature: op.signature, nonce: '0' },
      blockHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      ours: expect.stringContaining(`gas ${ours},`),
      node: expect.stringContaining(`gas ${ours + 1n},`),
    })
    expect(engine.engine.trouble()).toBeUndefined()
    expect(gasOf(await engine.engine.validate(chain().entryPoint, op))).toBe(ours)
    const otherCode = await withCode(op, '0x5f5f5260205ff3')
    await engine.engine.validate(...otherCode)
    expect(engine.ran).toEqual(['inProcess', 'trace', 'inProcess'])
    expect(await outcomes(engine, 2)).toEqual(['differs', 'differs'])
    await engine.engine.validate(...otherCode)
    expect(engine.ran.at(-1)).toBe('trace')
    expect(engine.compared).toHaveLength(2)
  })

  test('are run again for nobody who asks: a request pays for its own run only', async () => {
    const node = await startChangedNode(chain().anvil.url, dearerInside)
    open.push(() => node.stop())
    const engine = await start({ url: node.url })
    const requester = requesterOf('key')
    const op = await fundedOperation(chain())
    await engine.engine.by(requester).validate(chain().entryPoint, op)
    const { spent } = requester
    expect(spent).toBeGreaterThan(0)
    // Before it counts as different, our EVM validates it again.
    expect(await outcomes(engine, 1)).toEqual(['differs'])
    expect(requester.spent).toBe(spent)
  })

  test('on state that changed without a block are no difference', async () => {
    const engine = await start({ share: 1 })
    const op = await fundedOperation(chain())
    const before = gasOf(await engine.engine.validate(chain().entryPoint, op))
    await outcomes(engine, 1)
    const { address } = chain().entryPoint
    const value = numberToHex(1n, { size: 32 })
    await chain().tester.setStorageAt({ address, index: depositSlot(op.sender), value })
    expect(gasOf(await engine.engine.validate(chain().entryPoint, op))).toBe(before)
    expect(await outcomes(engine, 2)).toEqual(['agrees', 'agrees'])
    const [fresh] = [await start()]
    expect(gasOf(await fresh.engine.validate(chain().entryPoint, op))).not.toBe(before)
    expect(alerts(engine.logged)).toEqual([])
  })

  test('that look at the block, which no operation may and nodes pretend in calls, are not compared', async () => {
    const engine = await start()
    const op = await fundedOperation(chain())
    await engine.engine.validate(...(await withCode(op, '0x48505f5f5260205ff3'))) // BASEFEE POP
    await engine.engine.validate(...(await withCode(op, '0x5f5f5260205ff3')))
    expect(await outcomes(engine, 1)).toEqual(['agrees'])
    expect(engine.compared).toHaveLength(1)
  })

  test('agree although somebody paid the address from which they run', async () => {
    const engine = await start()
    await chain().fund(HANDLER)
    const op = await fundedOperation(chain())
    // BALANCE of it, and one more instruction where there is one.
    const code = concatHex(['0x73', HANDLER, '0x31601c575f505b5f5f5260205ff3'])
    await engine.engine.validate(...(await withCode(op, code)))
    expect(await outcomes(engine, 1)).toEqual(['agrees'])
  })
})
