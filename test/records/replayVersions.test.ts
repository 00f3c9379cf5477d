import type { Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/erc4337/operation.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { findWitness, putWitnesses } from '../../src/mempool/witnesses.js'
import { replayOperation } from '../../src/records/replay/replayOperation.js'
import { replayWitness } from '../../src/simulation/replayWitness.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { until } from '../support/until.js'
import { senderKinds, TARGET, VERSIONS } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/** The address in whose name the chain logs them. */
const COIN = '0xfffffffffffffffffffffffffffffffffffffffe'

describe.each(VERSIONS)('failed operations of EntryPoint v%s', (version) => {
  const bundling = useWorld({ versions: [version] })

  test('are run again from the database, and the failing call is named', async () => {
    const world = bundling()
    const chain = world.at(version)
    const { entryPoint } = chain
    const tank = await chain.createTank(0)

    /** An operation that fails by `call`, with the gas of one that works. */
    const failing = async (
      at: number,
      call: readonly [string, ...unknown[]],
      changes: Partial<Operation> = {},
    ) => {
      const seed = `failing ${version} ${at}`
      const kinds = senderKinds(version)
      const kind = kinds[at % kinds.length]!
      const works = await chain.draft(kind, seed, chain.onTarget('write', 0n, 2n))
      await chain.fund(works.sender)
      const estimate = await world.estimate(entryPoint, { ...works, ...unsetGas })
      const { callData } = await chain.draft(kind, seed, chain.onTarget(...call))
      const limited = complete(works, estimate)
      const preVerificationGas = limited.preVerificationGas + 20_000n
      const drafted = { ...limited, preVerificationGas, callData, ...changes }
      const paid = at % 2 === 1 ? await chain.sponsor(drafted, tank) : drafted
      return chain.sign(paid, seed)
    }

    const sent = [
      { op: await failing(0, ['fail', 'sold out']), reason: 'sold out', error: 'reverted' },
      { op: await failing(1, ['failCustom']), reason: /^custom error 0x/, error: 'reverted' },
      { op: await failing(2, ['write', 0n, 2n], { callGasLimit: 30_000n }), error: 'out of gas' },
      {
        op: await failing(3, ['write', 2n ** 256n - 1n, 2n]),
        reason: 'Panic(0x11): arithmetic overflow',
        error: 'reverted',
      },
    ]
    const hashes: Hex[] = []
    for (const { op } of sent) hashes.push(await world.admit(op, entryPoint))
    await world.settle()
    const receipts = await Promise.all(hashes.map((hash) => world.receipt(hash)))

    const request = { chainId: world.definition.chainId, accountId: undefined }
    const replays = await until(() =>
      Promise.all(
        hashes.map((userOpHash) => replayOperation(world.database, { ...request, userOpHash })),
      ).catch(() => undefined),
    )
    for (const [at, replay] of replays.entries()) {
      const { success, actualGasUsed, actualGasCost, reason, receipt } = receipts[at]!
      expect(success).toBe(false)
      expect(replay).toMatchObject({
        moment: 'mined',
        success,
        transactionHash: receipt.transactionHash,
        actualGasUsed: String(actualGasUsed),
        actualGasCost: String(actualGasCost),
        revertData: reason ?? '0x',
      })
      const { op, ...expected } = sent[at]!
      const faults = replay.frames.filter(({ isFault }) => isFault)
      expect(faults).toMatchObject([
        {
          to: world.target,
          error: expected.error,
          ...(expected.reason && {
            reason:
              typeof expected.reason === 'string'
                ? expected.reason
                : expect.stringMatching(expected.reason),
          }),
        },
      ])
      const roles = replay.frames.map(({ role }) => role)
      expect(roles.includes('paymaster')).toBe(op.paymaster !== undefined)
    }
  })

  test('the coin changes hands once where the chain also logs its transfers (EIP-7708)', async () => {
    const world = bundling()
    const chain = world.at(version)
    const { database } = world
    const { chainId } = world.definition
    const seed = `coin ${version}`
    const drafted = await chain.draft('deployed', seed, { to: TARGET, value: 5n })
    await chain.fund(drafted.sender)
    const op = await chain.sign({ ...drafted, callGasLimit: 500_000n }, seed)
    const userOpHash = await world.admit(op, chain.entryPoint)
    await world.settle()
    const hash = (await world.receipt(userOpHash)).receipt.transactionHash
    const run = await world.services.witnesses.mined(hash)
    const { witness, codes } = run!
    const block = { ...witness.state.block, fork: 'amsterdam' } as const
    const message = { ...witness.message, gas: 10_000_000 }
    const later = { ...witness, message, state: { ...witness.state, block } }
    await until(() => findWitness(database, chainId, hash, 'transaction'))
    const subject = { hash, appId: undefined }
    await putWitnesses(database, chainId, [{ subject, run: { witness: later, codes } }])

    const logs = replayWitness(later, codes).result.logs.filter(({ address }) => address === COIN)
    expect(logs.length).toBeGreaterThan(0)
    const request = { chainId, accountId: undefined, userOpHash }
    const { transfers, success } = await replayOperation(database, request)
    expect(success).toBe(true)
    const given = transfers.filter(({ to }) => to === TARGET)
    expect(given).toMatchObject([{ kind: 'native', from: op.sender, amount: '5' }])
  })
})
