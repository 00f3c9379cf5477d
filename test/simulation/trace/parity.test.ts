import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EntryPoint, Version } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { applyRules, limitProfiles } from '../../../src/erc4337/rules/index.js'
import type { Engine, ObservedRecord } from '../../../src/simulation/engine.js'
import { createNodeEngine } from '../../../src/simulation/node/nodeEngine.js'
import type { Tracer } from '../../../src/simulation/tracer.js'
import { openCaseActors } from '../../compliance/caseActors.js'
import { cases } from '../../compliance/cases.js'
import {
  type ActorChain,
  MINIMUM_STAKE,
  openActorChain,
  UNSTAKE_DELAY,
} from '../../support/chain/actorChain.js'
import { nodeKind } from '../../support/nodes/nodeKind.js'
import { openEngine, type TestEngine } from '../../support/world/ground.js'

/** Without `npm run test:compliance` the oldest and the newest: tracing takes its time. */
const VERSIONS: readonly Version[] =
  process.env.PURSER_COMPLIANCE === 'full' ? ['0.6', '0.7', '0.8', '0.9'] : ['0.6', '0.9']
const CHAIN_ID = 75_620

/** geth has a tracer of its own for these rules and also runs our script. */
const TRACERS: readonly Tracer[] = nodeKind() === 'geth' ? ['native', 'script'] : ['script']

let chain: ActorChain
let inProcess: TestEngine
let onNode: readonly Pick<Engine, 'validate'>[]

beforeAll(async () => {
  chain = await openActorChain(VERSIONS, CHAIN_ID)
  inProcess = await openEngine(chain.anvil.url, CHAIN_ID)
  const { node } = inProcess
  onNode = TRACERS.map((tracer) => createNodeEngine({ node, tracing: { ...inProcess, tracer } }))
})
afterAll(async () => {
  await inProcess?.close()
  await chain?.anvil.stop()
})

describe.each(VERSIONS)('a trace of the node and our EVM, EntryPoint v%s', (version) => {
  let entryPoint: EntryPoint
  let caseActors: Awaited<ReturnType<typeof openCaseActors>>

  beforeAll(async () => {
    entryPoint = chain.entryPoints.get(version)!
    caseActors = await openCaseActors(chain, entryPoint)
    await inProcess.heads.refresh()
  })

  test.each(cases)('say the same of: $name', async ({ scenario, breaks }) => {
    const op = caseActors.operationOf(scenario)
    if (op.factory) {
      await chain.deposit(entryPoint, op.sender)
      await inProcess.heads.refresh()
    }
    const ours = await factsBy(inProcess, op)
    for (const engine of onNode) expect(await factsBy(engine, op)).toEqual(ours)
    expect(ours.rules.length > 0).toBe(breaks !== undefined)
  })

  /** All that a validation says, its verdict by the rules included. */
  async function factsBy(engine: Pick<Engine, 'validate'>, op: Operation) {
    const result = await engine.validate(entryPoint, op)
    if (!result.ok) throw new Error(result.failure.message)
    // A node does not say what was in the state before.
    const { observed, before: _, ...validation } = result.validation
    const record = observed as ObservedRecord
    const verdict = applyRules({
      ...record,
      entryPoint,
      op,
      limits: limitProfiles.lenient,
      stakePolicy: { minimumStake: MINIMUM_STAKE, minimumUnstakeDelay: BigInt(UNSTAKE_DELAY) },
    })
    const { violations, accessed, visitedCode, entities, contextSize } = verdict
    return {
      ...validation,
      rules: [...new Set(violations.map(({ rule }) => rule))].sort(),
      accessed,
      entities,
      contextSize,
      codes: [...visitedCode.keys()]
        .map((address) => [address, record.codeHashes.get(address)])
        .sort(),
      stakes: record.stakes,
      deposit: record.deposit,
      senderExists: record.senderExists,
      fork: record.fork,
    }
  }
})
