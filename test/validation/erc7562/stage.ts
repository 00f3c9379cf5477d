import type { Address, Hex } from 'viem'
import type { Operation } from '../../../src/entrypoint/operation.js'
import { create2Address, createAddress, fromHex, type Result } from '../../../src/evm/index.js'
import {
  type EntityRole,
  judge,
  LIMIT_PROFILES,
  type Limits,
  type StakePolicy,
  type Verdict,
} from '../../../src/validation/erc7562/index.js'
import { type Act, actorInitcode, makeCall, type Making, script } from './actor.js'
import { BLOCK, createWorld, operationOf, type TestWorld, VERSIONS } from './world.js'

export const ROLES: readonly EntityRole[] = ['account', 'factory', 'paymaster']
export const HOWS = ['SELF', 'CALL', 'DELEGATECALL'] as const

export const POLICY: StakePolicy = { minimumStake: 10n ** 18n, minimumUnstakeDelay: 86_400n }
export const STAKED = { stake: 10n ** 18n, unstakeDelay: 86_400n }

/** What the entities of one operation do in its validation. */
export type Play = {
  readonly account?: Act
  readonly factory?: Act
  readonly paymaster?: Act
  /** The sender's constructor; the operation then creates its sender. */
  readonly construct?: Act
  /** How the factory creates the sender, which a play with `factory` or `construct` does anyway. */
  readonly deploys?: Partial<Pick<Making, 'how' | 'via' | 'before'>>
  readonly staked?: readonly EntityRole[]
  readonly limits?: Limits
  /** Default: when the operation has no factory. */
  readonly senderExists?: boolean
  readonly fields?: Partial<Operation>
}

export type Stage = ReturnType<typeof createStage>

/** One world with actors for every role, and a contract that is no entity. */
export function createStage(world: TestWorld) {
  const account = world.createActor()
  const factory = world.createActor()
  const paymaster = world.createActor()
  const stranger = world.createActor()

  const senderOf = (play: Play): Address => {
    if (!deploys(play)) return account
    if (play.deploys?.how === 'CREATE') return createAddress(factory, 1n)
    const creator = play.deploys?.how === 'VIA' ? play.deploys.via! : factory
    return create2Address(creator, 0n, fromHex(actorInitcode(play.construct)))
  }

  const operation = (play: Play): Operation => {
    const sender = senderOf(play)
    const packed = world.version !== '0.6'
    return operationOf(sender, {
      signature: script(play.account),
      ...(deploys(play) && {
        factory,
        factoryData: makeCall({
          initcode: actorInitcode(play.construct),
          act: play.factory,
          ...play.deploys,
        }),
      }),
      ...(play.paymaster && {
        paymaster,
        paymasterData: script(play.paymaster),
        paymasterVerificationGasLimit: packed ? 3_000_000n : 0n,
        paymasterPostOpGasLimit: packed ? 100_000n : 0n,
      }),
      ...play.fields,
    })
  }

  return {
    ...{ world, account, factory, paymaster, stranger },
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

export function judgeRun(world: TestWorld, op: Operation, run: Result, play: Play = {}): Verdict {
  const staked = play.staked ?? []
  return judge({
    record: run.record!,
    entryPoint: world.entryPoint,
    op,
    fork: BLOCK.fork,
    senderExists: play.senderExists ?? op.factory === undefined,
    stakes: Object.fromEntries(staked.map((role) => [role, STAKED])),
    stakePolicy: POLICY,
    limits: play.limits ?? LIMIT_PROFILES.lenient,
  })
}

export function requireSuccess({ entryPoint }: TestWorld, run: Result): Result {
  if (run.success) return run
  const output: Hex = `0x${Buffer.from(run.output).toString('hex')}`
  throw new Error(`handleOps failed: ${entryPoint.decodeFailure(output)?.message ?? output}`)
}

function deploys(play: Play): boolean {
  return [play.factory, play.construct, play.deploys].some((part) => part !== undefined)
}
