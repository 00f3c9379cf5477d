import { type Address, parseEther } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/erc4337/operation.js'
import type { Engine, GasMeasurement } from '../../src/simulation/engine.js'
import { createNodeEngine } from '../../src/simulation/node/nodeEngine.js'
import { senderKinds, VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

/* What the engine on the node measures, compared with our EVM on the same chain. */

const bounds = { call: 16_000_000n, verification: 5_000_000n }

describe.each(VERSIONS)('estimates on the node, EntryPoint v%s:', (version) => {
  const chain = useVersionChain(version)
  let onNode: Engine
  let tank: Address

  beforeAll(async () => {
    onNode = createNodeEngine({ node: chain().engine.node })
    tank = await chain().createTank(0, { wei: parseEther('1') })
    await chain().engine.heads.refresh()
  })

  async function measuredBy(engine: Engine, op: Operation): Promise<GasMeasurement> {
    // Money is pretended for the limits of the operation.
    const ample = { callGasLimit: bounds.call, verificationGasLimit: bounds.verification }
    const measured = await engine.measure(chain().entryPoint, { ...op, ...ample }, bounds)
    if (measured.outcome !== 'measured') throw new Error(JSON.stringify(measured))
    return measured.gas
  }

  const cases = senderKinds(version).flatMap((kind) =>
    (['itself', 'tank'] as const).map((payer) => ({ kind, payer })),
  )

  test.each(cases)('$kind sender, paid by $payer', async ({ kind, payer }) => {
    const seed = `measured ${kind} ${payer}`
    const drafted = await chain().draft(kind, seed, chain().onTarget('write', 0n, 2n))
    const op = payer === 'tank' ? await chain().sponsor(drafted, tank) : drafted
    const ours = await measuredBy(chain().engine, op)
    const theirs = await measuredBy(onNode, op)
    for (const limit of ['callGasLimit', 'verificationGasLimit'] as const) {
      // The searches end within 1.6 % each; the calls of the probe cost a little more.
      const [least, most] = [Number(ours[limit]) * 0.97, Number(ours[limit]) * 1.03 + 3_000]
      expect(Number(theirs[limit]), limit).toBeGreaterThan(least)
      expect(Number(theirs[limit]), limit).toBeLessThan(most)
    }
    expect(theirs.before?.authority).toBe(ours.before?.authority)
    expect(theirs.contextSize).toBe(ours.contextSize)
    expect(theirs.verificationGasUsed).toBeLessThanOrEqual(ours.verificationGasUsed + 400n)

    // The limits are enough for the EntryPoint itself.
    const limited = await chain().sign(
      {
        ...op,
        callGasLimit: theirs.callGasLimit,
        verificationGasLimit: theirs.verificationGasLimit + 20_000n,
      },
      seed,
    )
    await chain().fund(op.sender)
    await chain().engine.heads.refresh()
    const signed = payer === 'tank' ? await chain().sponsor(limited, tank) : limited
    const executed = await chain().engine.execute(
      chain().entryPoint,
      await chain().sign(signed, seed),
    )
    expect(executed).toMatchObject({ ok: true, success: true })
  })
})
