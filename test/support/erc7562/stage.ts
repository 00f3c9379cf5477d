import type { Address, Hex } from 'viem'
import type { Operation } from '../../../src/entrypoint/operation.js'
import type { CallResult } from '../../../src/evm/index.js'
import {
  applyRules,
  type EntityRole,
  limitProfiles,
  type StakePolicy,
  type Verdict,
} from '../../../src/validation/erc7562/index.js'
import type { Act } from './actor.js'
import { createCast, deploys, type Play } from './cast.js'
import { BLOCK, createWorld, type TestWorld, VERSIONS } from './world.js'

export type { Play }

export const ROLES: readonly EntityRole[] = ['account', 'factory', 'paymaster']
export const HOWS = ['SELF', 'CALL', 'DELEGATECALL'] as const

export const POLICY: StakePolicy = { minimumStake: 10n ** 18n, minimumUnstakeDelay: 86_400n }
export const STAKED = { stake: 10n ** 18n, unstakeDelay: 86_400n }

export type Stage = ReturnType<typeof createStage>

/** One world with actors for every role, and a contract that is no entity. */
export function createStage(world: TestWorld) {
  const [account, factory, paymaster] = [
    world.createActor(),
    world.createActor(),
    world.createActor(),
  ]
  const stranger = world.createActor()
  const actors = { account, factory, paymaster }

  const { senderOf, operation } = createCast({ ...actors, packed: world.version !== '0.6' })

  return {
    world,
    account,
    factory,
    paymaster,
    stranger,
    /** Address of each role in a play. */
    addressOf: (role: EntityRole, play: Play): Address =>
      ({ account: senderOf(play), factory, paymaster })[role],
    senderOf,
    operation,
    /** Runs handleOps, which must succeed, and judges its validation. */
    perform(play: Play): Verdict {
      const op = operation(play)
      if (deploys(play)) {
        world.deposit(op.sender)
        world.send(op.sender, '0x', 10n ** 18n)
      }
      return judgeRun(world, op, requireSuccess(world, world.handleOps(op)), play)
    },
  }
}

/** The rules that a play breaks, each once, in alphabetical order. */
export function rulesOf({ violations }: Verdict): string[] {
  return [...new Set(violations.map(({ rule }) => rule))].sort()
}

/** A play in which `role` does `act`, with a factory when that is the one. */
export function playOf(role: EntityRole, act: Act, staked: readonly EntityRole[] = []): Play {
  return { [role]: act, staked }
}

/** One stage for each version of the EntryPoint. */
export function stages(): readonly (readonly [version: string, stage: Stage])[] {
  return VERSIONS.map((version) => [`v${version}`, createStage(createWorld(version))])
}

export function judgeRun(
  world: TestWorld,
  op: Operation,
  run: CallResult,
  play: Play = {},
): Verdict {
  const staked = play.staked ?? []
  return applyRules({
    record: run.record!,
    entryPoint: world.entryPoint,
    op,
    fork: BLOCK.fork,
    senderExists: play.senderExists ?? op.factory === undefined,
    stakes: Object.fromEntries(staked.map((role) => [role, STAKED])),
    stakePolicy: POLICY,
    limits: play.limits ?? limitProfiles.lenient,
  })
}

export function requireSuccess({ entryPoint }: TestWorld, run: CallResult): CallResult {
  if (run.success) return run
  const output: Hex = `0x${Buffer.from(run.output).toString('hex')}`
  throw new Error(`handleOps failed: ${entryPoint.decodeFailure(output)?.message ?? output}`)
}
