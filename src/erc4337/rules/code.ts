import type { Address, Hex } from 'viem'
import { framesOf, isEntryPointFrame, type Phase, type RuleContext } from './ruleContext.js'
import { type Party, type Violation, violation } from './violation.js'

/** Code hashes by address, as EXTCODEHASH gives them. */
export type CodeHashes = ReadonlyMap<Address, Hex>

/** The addresses on whose code a validation depends, each with the entity that first used it. */
export type VisitedCode = ReadonlyMap<Address, Party>

/**
 * The code that COD-010 watches: that of entities, of everything called or inspected by EXTCODE*, and of
 * EIP-7702 delegates. The EntryPoint and precompiles never change and are left out.
 */
export function visitedCode(context: RuleContext, phases: readonly Phase[]): VisitedCode {
  const visited = new Map<Address, Party>()
  for (const { entity, delegate, root } of phases) {
    const party = { role: entity.role, address: entity.address }
    const visit = (address: Address | undefined) => {
      if (address === undefined || address === context.entryPoint.address) return
      if (!visited.has(address)) visited.set(address, party)
    }
    visit(root.to)
    visit(delegate)
    for (const frame of framesOf(root)) {
      if (isEntryPointFrame(context, frame)) continue
      for (const access of frame.accesses) {
        if (access.precompile) continue
        visit(access.address)
        visit(access.delegate)
      }
    }
  }
  return visited
}

/**
 * COD-010: no code that the first validation visited may differ at the second. `first` and `second`
 * must hold a hash for every address of `visited`.
 */
export function changedCode(
  visited: VisitedCode,
  first: CodeHashes,
  second: CodeHashes,
): Violation[] {
  return [...visited]
    .filter(([address]) => first.get(address) !== second.get(address))
    .map(([address, party]) => {
      const message = `the code of ${address}, which the ${party.role} uses, changed since the operation was accepted`
      return violation('COD-010', party, message, { contract: address })
    })
}
