import { type Address, concatHex, type Hex } from 'viem'
import type { EntryPoint } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import type { ActorChain } from '../support/chain/actorChain.js'
import { scenarioOperations } from '../support/erc7562/scenario.js'
import type { Case } from './cases.js'

const UNASSIGNED: Hex = '0x0c'
const STOP: Hex = '0x00'

/** Contracts that a test puts into a chain. */
const places = {
  broken: '0x00000000000000000000000000000000000b0c0d',
  system: '0x0000000000000000000000000000000000000c00',
  delegated: '0x000000000000000000000000000000007702beef',
} as const

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
  await chain.anvil.request('anvil_setCode', [places.broken, UNASSIGNED])
  await chain.anvil.request('anvil_setCode', [places.system, STOP])
  const toActor = concatHex(['0xef0100', actors.stranger])
  await chain.anvil.request('anvil_setCode', [places.delegated, toActor])
  await chain.deposit(entryPoint, places.delegated)
  const packed = entryPoint.version !== '0.6'

  return {
    /** The operation of a case. */
    operationOf(scenario: Case['scenario']): Operation {
      const wanted = scenario({
        ...actors,
        ...places,
        entryPoint: entryPoint.address,
        created: actors.account,
      })
      const chosen = { ...actors }
      for (const role of wanted.staked ?? []) if (role !== 'account') chosen[role] = staked[role]
      const operations = scenarioOperations({ ...chosen, packed })
      const created = operations.senderOf({ deploys: {} })
      return operations.operation(
        scenario({ ...chosen, ...places, entryPoint: entryPoint.address, created }),
      )
    },
  }
}
