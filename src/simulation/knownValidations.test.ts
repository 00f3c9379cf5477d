import { zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { BLOCK, createMemoryChain } from '../../test/support/erc7562/memoryChain.js'
import { createRuleFixture, POLICY } from '../../test/support/erc7562/ruleFixture.js'
import { silent } from '../../test/support/logger.js'
import { recordMetrics } from '../../test/support/recordMetrics.js'
import { program } from '../../test/support/simulations.js'
import { BlockGone } from '../chain/blockReads.js'
import type { KnownBlock, WithState } from '../chain/stateProvider.js'
import { limitProfiles } from '../erc4337/rules/index.js'
import { overlay } from '../evm/index.js'
import { checkRules } from './checkRules.js'
import { createEngineOn } from './inProcess/inProcessEngine.js'
import { createKnownValidations } from './knownValidations.js'
import { createSimulations } from './simulations.js'

const chain = createMemoryChain('0.7')
const { entryPoint } = chain
const fixture = createRuleFixture(chain)
const head = { hash: zeroHash, parentHash: zeroHash, number: 1n, timestamp: 0, baseFee: 0n }
const first: KnownBlock = { ...chain.state(), head, block: BLOCK }
const simulations = createSimulations({ workers: 1, logger: silent, program })

/** A memory on a state that tests change. */
function open(share = 0, isTrusted = true) {
  const counts: Record<string, number> = {}
  const world = { known: first, isGone: false }
  const withState: WithState = async (_, attempt) => {
    const result = await attempt(world.known, [])
    if (result.kind !== 'done') throw new Error(`the run ended as ${result.kind}`)
    return { result, known: world.known }
  }
  const engine = createEngineOn(withState, { simulations, requester: undefined })
  const known = createKnownValidations({
    state: {
      read: async () => {
        if (world.isGone) throw new BlockGone('left')
        return world.known
      },
    },
    engine,
    isTrusted: () => isTrusted,
    share,
    metrics: recordMetrics(({ outcome = '' }, by) => {
      counts[outcome] = (counts[outcome] ?? 0) + by
    }),
    logger: silent,
  })
  return { known, engine, counts, world }
}

const rules = {
  mode: 'full',
  limits: limitProfiles.lenient,
  stakePolicy: POLICY,
  exceptions: [],
} as const
const op = fixture.operation({ account: { what: 'SLOAD', value: 7n } })

/** The validation of the operation, and what the rules find. */
async function validated({ engine }: ReturnType<typeof open>) {
  const result = await engine.validate(entryPoint, op)
  if (!result.ok) throw new Error(result.failure.message)
  const { verdict } = checkRules(entryPoint, op, result.validation.observed, rules)
  return { validation: result.validation, verdict }
}

test('a validation is recalled while its state is the same, and not of another operation', async () => {
  const memory = open()
  const { validation, verdict } = await validated(memory)
  memory.known.remember(entryPoint, op, validation, verdict)
  const others = [
    { ...op, signature: '0x1234' as const },
    { ...op, nonce: op.nonce + 1n },
  ]
  const recalled = await memory.known.recall(entryPoint, [op, ...others])
  expect([...recalled.keys()]).toEqual([op])
  expect(recalled.get(op)).toMatchObject({ verdict, stakes: validation.observed.stakes })
  const stateDiff = new Map([[`0x${'7'.padStart(64, '0')}` as const, 1n]])
  const changed = overlay(first, new Map([[op.sender, { stateDiff }]]))
  memory.world.known = { ...changed, head, block: BLOCK }
  expect(await memory.known.recall(entryPoint, [op])).toEqual(new Map())
  expect(memory.counts).toEqual({ same: 1, changed: 1 })
})

test('nothing is recalled where our EVM is not trusted, or the block has gone', async () => {
  for (const [isTrusted, isGone] of [
    [false, false],
    [true, true],
  ] as const) {
    const memory = open(0, isTrusted)
    const { validation, verdict } = await validated(memory)
    memory.known.remember(entryPoint, op, validation, verdict)
    memory.world.isGone = isGone
    expect(await memory.known.recall(entryPoint, [op])).toEqual(new Map())
  }
})

test('a validation that read more than 64 accounts and slots is not recalled', async () => {
  const memory = open()
  const { validation, verdict } = await validated(memory)
  const { observed } = validation
  if (observed.kind !== 'record' || !observed.readSet) throw new Error('nothing was recorded')
  const { accounts, slots } = observed.readSet
  const [slot] = slots
  if (slot === undefined) throw new Error('no slot was read')
  for (const [more, isRecalled] of [
    [64 - accounts.size - slots.length, true],
    [65 - accounts.size - slots.length, false],
  ] as const) {
    const readSet = {
      ...observed.readSet,
      slots: [...slots, ...Array.from({ length: more }, () => slot)],
    }
    const read = { ...op }
    const changed = { ...validation, observed: { ...observed, readSet } }
    memory.known.remember(entryPoint, read, changed, verdict)
    expect((await memory.known.recall(entryPoint, [read])).size).toBe(isRecalled ? 1 : 0)
  }
})

test('a run that finds something else on the same state is an alert, and is believed', async () => {
  const memory = open(1)
  const { validation, verdict } = await validated(memory)
  memory.known.remember(entryPoint, op, validation, verdict)
  expect((await memory.known.recall(entryPoint, [op])).size).toBe(1)
  const verificationGasUsed = validation.verificationGasUsed + 1n
  memory.known.remember(entryPoint, op, { ...validation, verificationGasUsed }, verdict)
  expect(await memory.known.recall(entryPoint, [op])).toEqual(new Map())
  expect(memory.counts).toEqual({ same: 1, differs: 1 })
})
