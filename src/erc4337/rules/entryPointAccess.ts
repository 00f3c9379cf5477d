import { type FrameKind, type FrameRecord, toHex } from '../../evm/index.js'
import type { FrameRule, Phase, RuleContext } from './ruleContext.js'
import { violation } from './violation.js'

const DEPOSIT_TO = '0xb760faf9'
const INCREMENT_NONCE = '0x0bd28e3b'
const extcode = [0x3b, 0x3c, 0x3f]

const opcodes: Readonly<Partial<Record<FrameKind, number>>> = {
  CALL: 0xf1,
  CALLCODE: 0xf2,
  DELEGATECALL: 0xf4,
  STATICCALL: 0xfa,
}

/** OP-054: no call of the EntryPoint except depositTo(sender), its fallback and incrementNonce. */
export const entryPointCalls: FrameRule = (context, phase, frame) =>
  frame.calls
    .filter((call) => call.to === context.entryPoint.address && !isAllowed(context, phase, call))
    .map(({ kind, to, input, inputSize }) => {
      const { entity } = phase
      const callee = inputSize < 4 ? 'its fallback' : toHex(input.subarray(0, 4))
      const message = `${entity.role} may not call the EntryPoint (${kind} of ${callee}) in validation`
      return violation('OP-054', entity, message, { opcode: opcodes[kind]!, contract: to })
    })

/** OP-054 on EXTCODE*; OP-051: EXTCODESIZE ISZERO, by which Solidity tests for code, is allowed. */
export const entryPointCode: FrameRule = ({ entryPoint }, { entity }, frame) =>
  frame.accesses
    .filter(({ address, opcode, testsExistence }) => {
      return address === entryPoint.address && extcode.includes(opcode) && !testsExistence
    })
    .map(({ address, opcode }) => {
      const message = `${entity.role} may not look at the EntryPoint's code in validation`
      return violation('OP-054', entity, message, { opcode, contract: address })
    })

function isAllowed(context: RuleContext, phase: Phase, call: FrameRecord): boolean {
  if (call.kind !== 'CALL') return false
  return (
    depositsForSender(context, phase, call) ||
    paysFallback(context, phase, call) ||
    incrementsNonce(context, call)
  )
}

/**
 * OP-052: depositTo(sender) from the sender or the factory, or from contracts that these call, as the
 * public compliance suite has it.
 */
function depositsForSender(
  { op, entities }: RuleContext,
  phase: Phase,
  call: FrameRecord,
): boolean {
  const beforePaymaster = phase.name !== 'paymaster'
  const byEntity = call.from === op.sender || call.from === entities.factory?.address
  return (beforePaymaster || byEntity) && toHex(call.input.subarray(0, 36)) === depositTo(op.sender)
}

function depositTo(account: string): string {
  return `${DEPOSIT_TO}${account.slice(2).padStart(64, '0')}`
}

/** OP-053: the fallback from the sender, or from contracts that it calls in its own validation. */
function paysFallback(
  { op }: RuleContext,
  phase: Phase,
  { from, inputSize }: FrameRecord,
): boolean {
  return inputSize === 0 && (phase.entity.role === 'account' || from === op.sender)
}

/** OP-055: incrementNonce() from the sender: it raises the caller's nonce. */
function incrementsNonce({ op }: RuleContext, { from, input }: FrameRecord): boolean {
  return from === op.sender && toHex(input.subarray(0, 4)) === INCREMENT_NONCE
}
