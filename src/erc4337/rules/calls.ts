import type { Address } from 'viem'
import type { FrameRule } from './ruleContext.js'
import { violation } from './violation.js'

/** Addresses below this one belong to precompiles and a chain's system, never to a contract. */
const RESERVED = 0x1000n

/** OP-062: the core precompiles, and P256VERIFY of EIP-7951. */
function isAccepted(address: Address): boolean {
  const number = BigInt(address)
  return (number >= 0x01n && number <= 0x11n) || number === 0x100n
}

const EXTCODESIZE = 0x3b
const EXTCODEHASH = 0x3f

/**
 * OP-041: *CALL and EXTCODE* only on addresses with code. OP-042: but for the sender, which its
 * factory may touch before it exists. Precompiles have no code; they are for OP-062. Limits may let
 * EXTCODESIZE and EXTCODEHASH pass where the sender is initialized, in its own code or in what that calls;
 * COD-010 watches the address then.
 */
export const undeployedCode: FrameRule = ({ op, limits }, { entity, name }, frame) => {
  const isOfSender = frame.storageAddress === op.sender || frame.from === op.sender
  const mayLook = limits.readsMissingCode && name === 'deployment' && isOfSender
  // A tracer may report only the first of several accesses of an address.
  const called = new Set(frame.calls.map(({ to }) => to))
  return frame.accesses
    .filter(({ address, codeSize, precompile }) => {
      return codeSize === 0 && !precompile && address !== op.sender
    })
    .filter(({ address, opcode }) => {
      if (!mayLook) return true
      return called.has(address) || (opcode !== EXTCODESIZE && opcode !== EXTCODEHASH)
    })
    .map(({ address, opcode }) => {
      const message = `${entity.role} accesses ${address}, which has no code`
      return violation('OP-041', entity, message, { opcode, contract: address })
    })
}

/** OP-062: no precompile but the accepted ones: another could show state or environment. */
export const unknownPrecompiles: FrameRule = (_, { entity }, frame) =>
  frame.accesses
    .filter(({ address, codeSize, precompile }) => {
      const special = precompile || (codeSize > 0 && BigInt(address) < RESERVED)
      return special && !isAccepted(address)
    })
    .map(({ address, opcode }) => {
      const message = `${entity.role} uses the precompile ${address}, which is not an accepted one`
      return violation('OP-062', entity, message, { opcode, contract: address })
    })

/** OP-061: value only to the EntryPoint (where OP-052 and OP-053 decide). */
export const valueCalls: FrameRule = ({ entryPoint }, { entity }, frame) =>
  frame.calls
    .filter(({ kind, to, value }) => {
      return value > 0n && (kind === 'CALLCODE' || (kind === 'CALL' && to !== entryPoint.address))
    })
    .map(({ kind, to, value }) => {
      const opcode = kind === 'CALL' ? 0xf1 : 0xf2
      const message = `${entity.role} sends ${value} wei to ${to}; only the EntryPoint may be paid`
      return violation('OP-061', entity, message, { opcode, contract: to })
    })
