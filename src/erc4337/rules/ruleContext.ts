import type { Address, Hex } from 'viem'
import type { Fork, FrameRecord } from '../../evm/index.js'
import type { EntryPoint } from '../entryPoint.js'
import type { Operation } from '../operation.js'
import type { RuleLimits } from './ruleLimits.js'
import type { EntityRole, Party, Violation } from './violation.js'

/** A contract that an operation names, and whether it is staked. */
export type Entity = Party & { readonly staked: boolean }

/** The frames for which one entity answers: everything below one call of the EntryPoint. */
export type Phase = {
  readonly name: 'deployment' | 'account' | 'paymaster'
  readonly entity: Entity
  /** The EIP-7702 delegate of the entity called. */
  readonly delegate: Address | undefined
  /** The frame of the entity. */
  readonly root: FrameRecord
  /** Gas of the EntryPoint's call: with that of SenderCreator in the deployment. */
  readonly gasUsed: number
}

/** The facts about an operation that every rule may use, in addition to the frame that it checks. */
export type RuleContext = {
  readonly op: Operation
  readonly entryPoint: EntryPoint
  readonly fork: Fork
  readonly limits: RuleLimits
  readonly senderExists: boolean
  readonly entities: { readonly [role in EntityRole]?: Entity }
  readonly paymentToken?: Address
  /** Whether `slot`, in any contract, is associated with `owner`. */
  readonly isAssociated: (owner: Address, slot: Hex) => boolean
}

/** A rule about what one frame did. */
export type FrameRule = (
  context: RuleContext,
  phase: Phase,
  frame: FrameRecord,
) => readonly Violation[]

/** A rule about a phase as a whole. */
export type PhaseRule = (context: RuleContext, phase: Phase) => readonly Violation[]

/** The frames of a phase, callers before what they call. */
export function* framesOf(root: FrameRecord): Generator<FrameRecord> {
  // Generators within generators would pass each frame on once for every caller of it.
  const waiting = [root]
  for (let frame = waiting.pop(); frame !== undefined; frame = waiting.pop()) {
    yield frame
    for (let index = frame.calls.length - 1; index >= 0; index--) waiting.push(frame.calls[index]!)
  }
}

/** Whether the frame runs the EntryPoint on its own storage: its code is trusted, no rule applies. */
export function isEntryPointFrame({ entryPoint }: RuleContext, frame: FrameRecord): boolean {
  return frame.to === entryPoint.address && frame.storageAddress === entryPoint.address
}
