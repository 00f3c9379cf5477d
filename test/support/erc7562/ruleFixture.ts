import type { Address, Hex } from 'viem'
import type { Operation } from '../../../src/erc4337/operation.js'
import {
  applyRules,
  type EntityRole,
  limitProfiles,
  type StakePolicy,
  type Verdict,
} from '../../../src/erc4337/rules/index.js'
import type { CallResult } from '../../../src/evm/index.js'
import type { Act } from './actor.js'
import { BLOCK, createMemoryChain, type MemoryChain, VERSIONS } from './memoryChain.js'
import { deploys, type Scenario, scenarioOperations } from './scenario.js'

export type { Scenario }

export const ROLES: readonly EntityRole[] = ['account', 'factory', 'paymaster']
export const HOWS = ['SELF', 'CALL', 'DELEGATECALL'] as const

export const POLICY: StakePolicy = { minimumStake: 10n ** 18n, minimumUnstakeDelay: 86_400n }
export const STAKED = { stake: 10n ** 18n, unstakeDelay: 86_400n }

export type RuleFixture = ReturnType<typeof createRuleFixture>

/** One chain with actors for every role, and a contract that is no entity. */
export function createRuleFixture(chain: MemoryChain) {
  const [account, factory, paymaster] = [
    chain.createActor(),
    chain.createActor(),
    chain.createActor(),
  ]
  const stranger = chain.createActor()
  const actors = { account, factory, paymaster }

  const { senderOf, operation } = scenarioOperations({ ...actors, packed: chain.version !== '0.6' })

  return {
    chain,
    account,
    factory,
    paymaster,
    stranger,
    /** Address of each role in a scenario. */
    addressOf: (role: EntityRole, scenario: Scenario): Address =>
      ({ account: senderOf(scenario), factory, paymaster })[role],
    senderOf,
    operation,
    /** Runs handleOps, which must succeed, and checks its validation by the rules. */
    check(scenario: Scenario): Verdict {
      const op = operation(scenario)
      if (deploys(scenario)) {
        chain.deposit(op.sender)
        chain.send(op.sender, '0x', 10n ** 18n)
      }
      return checkRun(chain, op, requireSuccess(chain, chain.handleOps(op)), scenario)
    },
  }
}

/** The rules that a scenario breaks, each once, in alphabetical order. */
export function rulesOf({ violations }: Verdict): string[] {
  return [...new Set(violations.map(({ rule }) => rule))].sort()
}

/** A scenario in which `role` does `act`, with a factory when that is the one. */
export function scenarioOf(
  role: EntityRole,
  act: Act,
  staked: readonly EntityRole[] = [],
): Scenario {
  return { [role]: act, staked }
}

/** One fixture for each version of the EntryPoint. */
export function ruleFixtures(): readonly (readonly [version: string, fixture: RuleFixture])[] {
  return VERSIONS.map((version) => [`v${version}`, createRuleFixture(createMemoryChain(version))])
}

export function checkRun(
  chain: MemoryChain,
  op: Operation,
  run: CallResult,
  scenario: Scenario = {},
): Verdict {
  const staked = scenario.staked ?? []
  return applyRules({
    record: run.record!,
    entryPoint: chain.entryPoint,
    op,
    fork: BLOCK.fork,
    senderExists: scenario.senderExists ?? op.factory === undefined,
    stakes: Object.fromEntries(staked.map((role) => [role, STAKED])),
    stakePolicy: POLICY,
    limits: scenario.limits ?? limitProfiles.lenient,
    ...(scenario.paymentToken && { paymentToken: scenario.paymentToken }),
  })
}

export function requireSuccess({ entryPoint }: MemoryChain, run: CallResult): CallResult {
  if (run.success) return run
  const output: Hex = `0x${Buffer.from(run.output).toString('hex')}`
  throw new Error(`handleOps failed: ${entryPoint.decodeFailure(output)?.message ?? output}`)
}
