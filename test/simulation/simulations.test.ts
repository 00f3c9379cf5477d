import { afterAll, describe, expect, test } from 'vitest'
import { SimulationLostError } from '../../src/base/errors/simulationErrors.js'
import { createInProcessEngine } from '../../src/simulation/inProcess/inProcessEngine.js'
import { createSimulations, type Simulations } from '../../src/simulation/simulations.js'
import { silent } from '../support/logger.js'
import { expensiveCode } from '../support/service/expensiveCode.js'
import { program } from '../support/simulations.js'
import { senderKinds } from '../support/world/versionChain.js'
import type { GroundChain } from '../support/world.js'
import { useVersionChain } from '../support/world.js'

const bounds = { call: 16_000_000n, verification: 5_000_000n }
/** Each of these takes all its runs at one place, whatever they cost. */
const everything = { runSteps: 20_000_000, measureSteps: Infinity }
const nothing = { runSteps: 1, measureSteps: 0 }

const opened: Simulations[] = []
function engineOn(chain: GroundChain, inline: typeof everything, threads = program) {
  const simulations = createSimulations({ workers: 1, logger: silent, program: threads, inline })
  opened.push(simulations)
  return createInProcessEngine({ state: chain.engine.state, simulations, requester: undefined })
}

describe.each(['0.6', '0.7', '0.9'] as const)('EntryPoint v%s', (version) => {
  const chain = useVersionChain(version)
  afterAll(async () => {
    await Promise.all(opened.splice(0).map((simulations) => simulations.close()))
  })

  test.each(senderKinds(version))('a worker comes to the same end (%s sender)', async (kind) => {
    const here = engineOn(chain(), everything)
    const there = engineOn(chain(), nothing)
    const op = await chain().draft(kind, `${kind} worker`, chain().onTarget('write', 0n, 7n))
    await chain().fund(op.sender)
    const signed = await chain().sign(op, `${kind} worker`)
    const wrong = { ...signed, nonce: signed.nonce + 5n }
    for (const each of [signed, wrong]) {
      const [near, far] = [here, there].map(async (engine) => {
        const { witness, ...result } = await engine.validate(chain().entryPoint, each)
        // The nonces that nobody needs are known or not.
        const taken = witness?.()
        const codes = [...(taken?.codes.keys() ?? [])].sort()
        return { result, codes, slots: taken?.witness.state.slots }
      })
      expect(await far).toEqual(await near)
      expect((await near)?.slots?.length).toBeGreaterThan(0)
      expect(await there.execute(chain().entryPoint, each)).toEqual(
        await here.execute(chain().entryPoint, each),
      )
      expect(await there.measure(chain().entryPoint, each, bounds)).toEqual(
        await here.measure(chain().entryPoint, each, bounds),
      )
    }
  })

  test('a measurement that goes on elsewhere in the middle comes to the same end', async () => {
    const here = engineOn(chain(), everything)
    const op = await chain().draft('deployed', 'half way', chain().onTarget('write', 0n, 8n))
    await chain().fund(op.sender)
    const expected = await here.measure(chain().entryPoint, op, bounds)
    expect(expected.outcome).toBe('measured')
    // It leaves this thread after its first run, and where a run takes more steps than it may.
    const divisions = [
      { ...everything, measureSteps: 0 },
      { ...everything, runSteps: 8_000 },
    ]
    for (const division of divisions) {
      const divided = engineOn(chain(), division)
      expect(await divided.measure(chain().entryPoint, op, bounds)).toEqual(expected)
    }
  })

  test('who is answered by this thread does not wait for a worker', async () => {
    // A worker that never answers stands for the longest run that there may be.
    const silentProgram = new URL(
      `data:text/javascript,${encodeURIComponent(`
        import { parentPort } from 'node:worker_threads'
        parentPort.on('message', () => { for (;;); })`)}`,
    )
    const simulations = createSimulations({ workers: 1, logger: silent, program: silentProgram })
    const party = { simulations, requester: undefined }
    const engine = createInProcessEngine({ ...party, state: chain().engine.state })
    const drafted = await chain().draft('deployed', 'expensive')
    const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    const expensive = { ...drafted, ...free, callData: '0x01' as const }
    const override = { [expensive.sender]: { code: expensiveCode(700) } }
    let isOver = false
    const measured = engine.measure(chain().entryPoint, expensive, bounds, override).finally(() => {
      isOver = true
    })
    const refused = expect(measured).rejects.toBeInstanceOf(SimulationLostError)
    const op = await chain().draft('deployed', 'quick', chain().onTarget('write', 0n, 7n))
    await chain().fund(op.sender)
    const signed = await chain().sign(op, 'quick')
    for (let count = 0; count < 20; count++) {
      expect(await engine.validate(chain().entryPoint, signed)).toMatchObject({ ok: true })
    }
    expect(isOver).toBe(false)
    await simulations.close()
    await refused
  })
})
