import type { Hex } from 'viem'
import type { Accesses } from '../../chain/accessPrediction.js'
import type { KnownBlock, StateProvider } from '../../chain/stateProvider.js'
import { DELEGATION_MARKER } from '../../erc4337/delegation.js'
import { nonceSlot } from '../../erc4337/encoding/storageLayout.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { StateBefore } from '../../erc4337/forkGas.js'
import type { Operation } from '../../erc4337/operation.js'
import { type Fork, trackState } from '../../evm/index.js'
import type { Engine, Inspecting, StateOverride } from '../engine.js'
import { fundsOn } from '../payerFunds.js'
import type { RunParty } from '../simulations.js'
import { stateBefore } from '../stateBefore.js'
import { accessHintsOf } from './accessHintsOf.js'
import { createEngineOn } from './inProcessEngine.js'

/** An included operation in the block that has it. */
export type IncludedOperation = {
  /** Whether it runs on the newest state, because the node has lost the one that it met. */
  readonly isNewest: boolean
  /** The engine by the rules of `fork`; undefined = those of its block. */
  by(fork: Fork | undefined): Pick<Engine, 'measure' | 'execute'> & Inspecting
  /** What was in the state before. */
  before(): Promise<StateBefore>
}

type PastContext = RunParty & { readonly state: Pick<StateProvider, 'openPast'> }

type Facts = Accesses & {
  readonly kind: 'done'
  /** See `fundsOn`. */
  readonly override: StateOverride
  readonly before: StateBefore
}

/**
 * Opens the past of `op`. Its nonce is the next one, whatever other operations of its block or later ones did; on the
 * newest state its sender is what it was before the operation created it, or first delegated it. Its payer has
 * enough money. Throws CannotSimulateError.
 */
export async function openPast(
  { state, ...party }: PastContext,
  entryPoint: EntryPoint,
  op: Operation,
  blockHash: Hex,
): Promise<IncludedOperation> {
  const past = await state.openPast(blockHash)
  const changed = (known: KnownBlock) => asBefore(known, entryPoint, op, past.isNewest)
  const facts = async (limited: Operation) => {
    const hints = accessHintsOf(entryPoint, op, 'execution')
    const { result } = await past.on(changed)<Facts>(hints, async (known) => {
      const funds = fundsOn(known, entryPoint, limited)
      if (funds.kind === 'missing') return funds
      const { touched } = trackState(known)
      const before = stateBefore(known, entryPoint, op)
      return { kind: 'done', override: funds.override, before, touched, preimages: [] }
    })
    return result
  }
  return {
    isNewest: past.isNewest,
    before: async () => (await facts(op)).before,
    by(fork) {
      const ruled = (known: KnownBlock) =>
        fork === undefined ? changed(known) : byRules(changed(known), fork)
      const engine = createEngineOn(past.on(ruled), party)
      return {
        measure: engine.measure,
        inspect: engine.inspect,
        witness: engine.witness,
        execute: async (target, limited, override: StateOverride | undefined) =>
          engine.execute(target, limited, override ?? (await facts(limited)).override),
      }
    },
  }
}

function byRules(known: KnownBlock, fork: Fork): KnownBlock {
  return { ...known, block: { ...known.block, fork, calldataFloor: undefined } }
}

function asBefore(
  known: KnownBlock,
  { address }: EntryPoint,
  { sender, nonce, factory, authorization }: Operation,
  isNewest: boolean,
): KnownBlock {
  const isCreated = factory !== undefined && factory !== DELEGATION_MARKER
  const isFirst = isNewest && (isCreated || authorization?.nonce === 0n)
  const counter = nonceSlot(sender, nonce)
  return {
    head: known.head,
    block: known.block,
    account(wanted) {
      const account = known.account(wanted)
      if (!isFirst || wanted !== sender || account === undefined) return account
      return { ...account, nonce: 0n, code: nothing }
    },
    slot(wanted, slot) {
      if (wanted === address && slot === counter) return BigInt.asUintN(64, nonce)
      return isFirst && wanted === sender ? 0n : known.slot(wanted, slot)
    },
  }
}

const nothing = new Uint8Array()
