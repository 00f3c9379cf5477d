import type { Address } from 'viem'
import { createAddress, type FrameRecord } from '../../evm/index.js'
import type { Entity, Phase, RuleContext } from './ruleContext.js'

/** validateUserOp and validatePaymasterUserOp, of v0.6 and of v0.7 and later. */
const validateAccount = [0x3a871cdd, 0x19822f7c]
const validatePaymaster = [0xf465c77e, 0x52b7512c]

/**
 * The phases of a run of handleOps, or simulateValidation, with this one operation. `root` must be
 * the EntryPoint's frame. A phase that the run did not reach is absent; execution is ignored.
 */
export function splitPhases(
  { entryPoint: { address }, op, entities }: Pick<RuleContext, 'entryPoint' | 'op' | 'entities'>,
  root: FrameRecord,
): Phase[] {
  if (root.to !== address) throw new Error(`the run is not one of the EntryPoint ${address}`)
  const creator = senderCreatorOf(address)
  const phases: Phase[] = []
  const begin = (
    name: Phase['name'],
    entity: Entity | undefined,
    caller: FrameRecord,
    call = 0,
  ) => {
    const frame = caller.calls[call]
    if (entity === undefined || frame === undefined) return
    const gasUsed = caller === root ? frame.gasUsed : caller.gasUsed
    phases.push({ name, entity, delegate: delegateOf(caller, frame.to), root: frame, gasUsed })
  }
  for (const [index, call] of root.calls.entries()) {
    if (call.to === creator) begin('deployment', entities.factory ?? entities.account, call)
    else if (call.to === op.sender && calls(call, validateAccount)) {
      begin('account', entities.account, root, index)
    } else if (call.to === op.paymaster && calls(call, validatePaymaster)) {
      begin('paymaster', entities.paymaster, root, index)
    }
  }
  return phases
}

/** Every EntryPoint creates its SenderCreator first, by CREATE. */
function senderCreatorOf(entryPoint: Address): Address {
  let creator = senderCreators.get(entryPoint)
  if (creator === undefined) {
    creator = createAddress(entryPoint, 1n)
    senderCreators.set(entryPoint, creator)
  }
  return creator
}

/** One entry per EntryPoint in use. */
const senderCreators = new Map<Address, Address>()

function calls({ input }: FrameRecord, selectors: readonly number[]): boolean {
  if (input.length < 4) return false
  return selectors.includes(new DataView(input.buffer, input.byteOffset).getUint32(0))
}

function delegateOf(caller: FrameRecord, address: Address): Address | undefined {
  return caller.accesses.find((access) => access.address === address && access.delegate)?.delegate
}
