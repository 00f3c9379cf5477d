import type { Address, Hex } from 'viem'

/**
 * A frame in the format of geth's `erc7562Tracer`, which our collector has too. The node is trusted to
 * answer in this form, as its answer to the probe at the start had it.
 */
export type TracedFrame = {
  readonly type: string
  readonly from: Address
  /** Absent for a creation that failed. */
  readonly to?: Address
  /** gas, as are `gasUsed` and the other quantities */
  readonly gas: Hex
  readonly gasUsed: Hex
  readonly value?: Hex
  readonly input: Hex
  readonly output?: Hex
  /** An error in the node's own words. */
  readonly error?: string
  readonly accessedSlots: {
    /** Values that were read, by slot. */
    readonly reads: Readonly<Record<Hex, readonly Hex[]>>
    /** Number of writes, by slot. */
    readonly writes: Readonly<Record<Hex, number>>
    readonly transientReads: Readonly<Record<Hex, number>>
    readonly transientWrites: Readonly<Record<Hex, number>>
  }
  /** Addresses whose code was read by EXTCODE*, except by EXTCODESIZE ISZERO. */
  readonly extCodeAccessInfo: readonly Address[]
  /** Number of uses, by opcode; GAS only where no *CALL follows. */
  readonly usedOpcodes: Readonly<Record<Hex, number>>
  /** Bytes of code of each address that was called or inspected, with the first opcode that did it. */
  readonly contractSize: Readonly<
    Record<Address, { readonly contractSize: number; readonly opcode: number }>
  >
  readonly outOfGas: boolean
  readonly calls?: readonly TracedFrame[]
  /** Inputs of KECCAK256 in the whole run; on the outermost frame only. */
  readonly keccak?: readonly Hex[]
}

/** Whether `answer` is a trace in this form, as far as its outermost frame shows. */
export function isTrace(answer: unknown): answer is TracedFrame {
  if (typeof answer !== 'object' || answer === null) return false
  const { accessedSlots, usedOpcodes, contractSize } = answer as Partial<TracedFrame>
  return [accessedSlots, usedOpcodes, contractSize].every((part) => typeof part === 'object')
}

/** The addresses whose code a trace used, without doubles. */
export function visitedAddresses(frame: TracedFrame): Set<Address> {
  const visited = new Set<Address>()
  const visit = ({ to, contractSize, calls = [] }: TracedFrame) => {
    if (to !== undefined) visited.add(to)
    for (const address of Object.keys(contractSize)) visited.add(address as Address)
    for (const call of calls) visit(call)
  }
  visit(frame)
  return visited
}
