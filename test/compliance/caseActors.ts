import type { Address } from 'viem'
import type { EntryPoint } from '../../src/entrypoint/entryPoint.js'
import type { Operation } from '../../src/entrypoint/operation.js'
import type { ActorChain } from '../support/chain/actorChain.js'
import { scenarioOperations } from '../support/erc7562/scenario.js'
import type { Case } from './cases.js'

/** The actors of the cases at one EntryPoint: unstaked ones, and staked ones where a scenario asks for them. */
export async function openCaseActors(chain: ActorChain, entryPoint: EntryPoint) {
  const actor = () => chain.createActor(entryPoint)
  const actors = {
    account: await actor(),
    factory: await actor(),
    paymaster: await actor(),
    stranger: await actor(),
  }
  const staked: Record<'factory' | 'paymaster', Address> = {
    factory: await actor(),
    paymaster: await actor(),
  }
  for (const each of Object.values(staked)) await chain.stake(entryPoint, each)
  const packed = entryPoint.version !== '0.6'

  return {
    /** The operation of a case. */
    operationOf(scenario: Case['scenario']): Operation {
      const wanted = scenario({
        ...actors,
        entryPoint: entryPoint.address,
        created: actors.account,
      })
      const chosen = { ...actors }
      for (const role of wanted.staked ?? []) if (role !== 'account') chosen[role] = staked[role]
      const operations = scenarioOperations({ ...chosen, packed })
      const created = operations.senderOf({ deploys: {} })
      return operations.operation(scenario({ ...chosen, entryPoint: entryPoint.address, created }))
    },
  }
}
