import type { Address } from 'viem'
import type { EntryPoint } from '../../src/entrypoint/entryPoint.js'
import type { Operation } from '../../src/entrypoint/operation.js'
import type { ActorChain } from '../support/chain/actorChain.js'
import { createCast } from '../support/erc7562/cast.js'
import type { Case } from './cases.js'

/** The actors of the cases at one EntryPoint: unstaked ones, and staked ones where a play asks for them. */
export async function openTroupe(chain: ActorChain, entryPoint: EntryPoint) {
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
    operationOf(play: Case['play']): Operation {
      const wanted = play({ ...actors, entryPoint: entryPoint.address, created: actors.account })
      const chosen = { ...actors }
      for (const role of wanted.staked ?? []) if (role !== 'account') chosen[role] = staked[role]
      const cast = createCast({ ...chosen, packed })
      const created = cast.senderOf({ deploys: {} })
      return cast.operation(play({ ...chosen, entryPoint: entryPoint.address, created }))
    },
  }
}
