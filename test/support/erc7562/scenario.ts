import type { Address } from 'viem'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { EntityRole, RuleLimits } from '../../../src/erc4337/rules/index.js'
import { create2Address, createAddress, fromHex } from '../../../src/evm/index.js'
import { type Act, actorInitcode, type Making, makeCall, script } from './actor.js'
import { operationOf } from './operationOf.js'

/** The actions of the entities of one operation in its validation. */
export type Scenario = {
  readonly account?: Act
  readonly factory?: Act
  readonly paymaster?: Act
  /** The sender's constructor; the operation then creates its sender. */
  readonly construct?: Act
  /** The way the factory creates the sender; with `factory` or `construct` it creates it anyway. */
  readonly deploys?: Partial<Pick<Making, 'how' | 'via' | 'before'>>
  readonly staked?: readonly EntityRole[]
  readonly limits?: RuleLimits
  /** The token of the paymaster, a token tank of ours. */
  readonly paymentToken?: Address
  /** Default: when the operation has no factory. */
  readonly senderExists?: boolean
  readonly fields?: Partial<Operation>
}

/** Actors that are the entities of operations. */
export type Actors = {
  readonly account: Address
  readonly factory: Address
  readonly paymaster: Address
  /** Whether operations have gas limits for the paymaster (v0.7 and later). */
  readonly packed: boolean
}

/** A builder of operations in which these actors act as a scenario says. */
export function scenarioOperations({ account, factory, paymaster, packed }: Actors) {
  const senderOf = (scenario: Scenario): Address => {
    if (!deploys(scenario)) return account
    if (scenario.deploys?.how === 'CREATE') return createAddress(factory, 1n)
    const creator = scenario.deploys?.how === 'VIA' ? scenario.deploys.via! : factory
    return create2Address(creator, 0n, fromHex(actorInitcode(scenario.construct)))
  }

  const operation = (scenario: Scenario): Operation => {
    const sender = senderOf(scenario)
    return operationOf(sender, {
      signature: script(scenario.account),
      ...(deploys(scenario) && {
        factory,
        factoryData: makeCall({
          initcode: actorInitcode(scenario.construct),
          act: scenario.factory,
          ...scenario.deploys,
        }),
      }),
      ...(scenario.paymaster && {
        paymaster,
        paymasterData: script(scenario.paymaster),
        paymasterVerificationGasLimit: packed ? 3_000_000n : 0n,
        paymasterPostOpGasLimit: packed ? 100_000n : 0n,
      }),
      ...scenario.fields,
    })
  }

  return { senderOf, operation }
}

export function deploys(scenario: Scenario): boolean {
  return [scenario.factory, scenario.construct, scenario.deploys].some((part) => part !== undefined)
}
