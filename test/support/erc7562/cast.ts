import type { Address } from 'viem'
import type { Operation } from '../../../src/entrypoint/operation.js'
import { create2Address, createAddress, fromHex } from '../../../src/evm/index.js'
import type { EntityRole, RuleLimits } from '../../../src/validation/erc7562/index.js'
import { type Act, actorInitcode, type Making, makeCall, script } from './actor.js'
import { operationOf } from './operationOf.js'

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
  readonly limits?: RuleLimits
  /** Default: when the operation has no factory. */
  readonly senderExists?: boolean
  readonly fields?: Partial<Operation>
}

/** Actors that play the entities of operations. */
export type Actors = {
  readonly account: Address
  readonly factory: Address
  readonly paymaster: Address
  /** Whether operations have gas limits for the paymaster (v0.7 and later). */
  readonly packed: boolean
}

/** Operations in which these actors do what a play says. */
export function createCast({ account, factory, paymaster, packed }: Actors) {
  const senderOf = (play: Play): Address => {
    if (!deploys(play)) return account
    if (play.deploys?.how === 'CREATE') return createAddress(factory, 1n)
    const creator = play.deploys?.how === 'VIA' ? play.deploys.via! : factory
    return create2Address(creator, 0n, fromHex(actorInitcode(play.construct)))
  }

  const operation = (play: Play): Operation => {
    const sender = senderOf(play)
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

  return { senderOf, operation }
}

export function deploys(play: Play): boolean {
  return [play.factory, play.construct, play.deploys].some((part) => part !== undefined)
}
