import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/erc4337/operation.js'
import { toHex } from '../../src/evm/index.js'
import { replayBundle } from '../../src/simulation/inProcess/replayBundle.js'
import { replayWitness } from '../../src/simulation/replayWitness.js'
import { openWitness, packWitness, type WitnessedRun } from '../../src/simulation/witness.js'
import { simulations } from '../support/simulations.js'
import { openGround } from '../support/world/ground.js'
import { VERSIONS } from '../support/world/versionChain.js'

const MOST = 2n ** 256n - 1n

/** Calls of an account that end in different ways; `limit` is their callGasLimit. */
const calls = [
  { name: 'works', call: ['write', 0n, 2n] },
  { name: 'swallows a failure below', call: ['swallow', 40n] },
  { name: 'reverts with a reason', call: ['fail', 'sold out'] },
  { name: 'reverts with a custom error', call: ['failCustom'] },
  { name: 'reverts with long data', call: ['failLong', 5_000n] },
  { name: 'reverts three calls deep', call: ['nest', 3n, 40n] },
  { name: 'panics', call: ['write', MOST, 2n] },
  { name: 'burns all gas', call: ['burnAll'] },
  { name: 'runs out of gas', call: ['write', 0n, 2n], limit: 30_000n },
  { name: 'has no gas at all', call: ['write', 0n, 2n], limit: 1n },
  { name: 'sends money that it has not', call: ['fail', 'never'], value: MOST },
  { name: 'sends money to a function that takes none', call: ['write', 0n, 1n], value: 1n },
] as const

type Mined = {
  readonly run: WitnessedRun
  readonly ops: readonly Operation[]
  readonly receipt: { status: number; gasUsed: bigint; logs: readonly Log[] }
}
type Log = { readonly address: string; readonly topics: readonly Hex[]; readonly data: Hex }

function facts(logs: readonly Log[]) {
  return logs.map(({ address, topics, data }) => ({ address, topics, data }))
}

describe.each(VERSIONS)('runs that are repeated from their witness alone, v%s', (version) => {
  const mined = new Map<string, Mined>()
  const refused = new Map<string, { readonly run: WitnessedRun; readonly code: string }>()

  beforeAll(async () => {
    const ground = await openGround()
    try {
      const chain = ground.at(version)
      const { engine } = ground
      const { entryPoint, wallet, executor } = chain
      const tank = await chain.createTank(0)

      const mine = async (name: string, ops: readonly Operation[], gas = 10_000_000n) => {
        const data = entryPoint.encodeHandleOps(ops, executor)
        const hash = await wallet.sendTransaction({ to: entryPoint.address, data, gas })
        const receipt = await wallet.waitForTransactionReceipt({ hash })
        const run = await replayBundle(
          { state: engine.state, simulations },
          entryPoint,
          receipt.blockHash,
          {
            from: executor,
            data,
            gas: Number(gas),
            gasPrice: receipt.effectiveGasPrice,
            authorizations: [],
          },
        )
        const status = receipt.status === 'success' ? 1 : 0
        const { gasUsed, logs } = receipt
        const kept = { status, gasUsed, logs: facts(logs as readonly Log[]) }
        mined.set(name, { run: run.witness(), ops, receipt: kept })
      }

      const all: Operation[] = []
      for (const [at, { name, call, ...terms }] of calls.entries()) {
        const seed = `${name} of the bundle`
        const target = chain.onTarget(...(call as readonly [string, ...unknown[]]))
        const value = 'value' in terms ? terms.value : 0n
        const drafted = await chain.draft(at % 2 === 0 ? 'deployed' : 'counterfactual', seed, {
          ...target,
          value,
        })
        await chain.fund(drafted.sender)
        const limited = { ...drafted, callGasLimit: 'limit' in terms ? terms.limit : 200_000n }
        const paid = at % 3 === 0 ? await chain.sponsor(limited, tank) : limited
        const op = await chain.sign(paid, seed)
        all.push(op)
        await chain.undone(() => mine(name, [op]))
      }
      await chain.undone(() => mine('all of them in one bundle', all, 29_000_000n))
      await chain.undone(async () => {
        const [one, two] = all as [Operation, Operation]
        await mine('a bundle that reverts', [one, { ...two, signature: '0x' }])
      })

      const refuse = async (name: string, code: string, op: Operation) => {
        await engine.heads.refresh()
        const { witness } = await engine.validate(entryPoint, op)
        if (witness === undefined) throw new Error('no witness')
        refused.set(name, { run: witness(), code })
      }
      const [tanked, plain] = all as [Operation, Operation]
      await refuse('a nonce that was used', 'AA25', { ...tanked, nonce: tanked.nonce + 5n })
      await refuse('a signature that is none', 'AA23', { ...plain, signature: '0x' })
      const stranger = await chain.sign(plain, 'somebody else')
      await refuse("somebody else's signature", 'AA24', stranger)
      const little = { ...plain, verificationGasLimit: 20_000n }
      await refuse('too little gas', plain.factory ? 'AA13' : 'AA23', little)
      const unpaid = await chain.sponsor(plain, tank, { signerKey: `0x${'77'.repeat(32)}` })
      const signed = await chain.sign(unpaid, `${calls[1].name} of the bundle`)
      await refuse("another tank's signature", 'AA34', signed)
    } finally {
      await ground.stop()
    }
  }, 240_000)
  afterAll(() => mined.clear())

  test.each([
    ...calls.map(({ name }) => name),
    'all of them in one bundle',
    'a bundle that reverts',
  ])('%s: the same status, logs and gas as the receipt has', (name) => {
    const { run, ops, receipt } = mined.get(name)!
    const packed = packWitness(run.witness)
    const again = replayWitness(openWitness(packed), run.codes)
    const { success, gasUsed, logs, record } = again.result
    expect({ status: success ? 1 : 0, gasUsed: BigInt(gasUsed) }).toEqual({
      status: receipt.status,
      gasUsed: receipt.gasUsed,
    })
    expect(logs.map((log) => ({ ...log, data: toHex(log.data) }))).toEqual(receipt.logs)
    expect(record?.root.calls.length).toBeGreaterThan(0)
    expect(packed.bytes.length / ops.length).toBeLessThan(8_000)
  })

  test('refusals: the same code as the first time', () => {
    for (const [name, { run, code }] of refused) {
      const { witness } = run
      const { failure } = replayWitness(openWitness(packWitness(witness)), run.codes)
      expect({ name, code: failure?.code }).toEqual({ name, code })
    }
    expect(refused.size).toBe(5)
  })

  test('a changed byte is refused, and what the witness lacks is named', () => {
    const { run } = mined.get('works')!
    const { digest, bytes } = packWitness(run.witness)
    const changedAt = (content: Uint8Array, at: number) => {
      const changed = Uint8Array.from(content)
      changed[at] = changed[at]! ^ 1
      return changed
    }
    const content = inflateRawSync(bytes)
    for (let at = 0; at < content.length; at += 97) {
      const changed = deflateRawSync(changedAt(content, at))
      expect(() => openWitness({ digest, bytes: changed })).toThrow(/was changed/)
    }
    // The same content can be compressed in several ways: such a change is none.
    for (let at = 0; at < bytes.length; at += 97) {
      const changed = { digest, bytes: changedAt(bytes, at) }
      try {
        expect(openWitness(changed)).toEqual(run.witness)
      } catch (error) {
        expect(error).toMatchObject({ message: expect.stringContaining('was changed') })
      }
    }
    const { state } = run.witness
    for (const [at, [address, slot]] of state.slots.entries()) {
      const slots = state.slots.filter((_, place) => place !== at)
      const lacking = { ...run.witness, state: { ...state, slots } }
      expect(() => replayWitness(lacking, run.codes)).toThrow(`lacks slot ${slot} of ${address}`)
    }
    const [hash, code] = [...run.codes].find(([, { length }]) => length > 0)!
    const others = new Map(run.codes).set(
      hash,
      code.map((byte) => byte ^ 1),
    )
    expect(() => replayWitness(run.witness, others)).toThrow(`code ${hash} was changed`)
  })
})
