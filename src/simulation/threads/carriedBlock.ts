import type { Address, Hex } from 'viem'
import type { KnownBlock } from '../../chain/stateProvider.js'
import {
  type BlockEnv,
  type Miss,
  p256VerifyRip7212,
  type State,
  type Touched,
} from '../../evm/index.js'
import type { SentCode } from './codes.js'

/** A block as data: no function in it. */
type BlockData = Omit<BlockEnv, 'blockHash' | 'chainPrecompiles'> & {
  /** Where the chain has RIP-7212, the one precompile that our EVM knows in addition to those of a fork. */
  readonly p256At: readonly number[]
}

type CarriedAccount<Code> = {
  readonly address: Address
  readonly nonce: bigint | undefined
  readonly balance: bigint
  readonly code: Code
}

/** A block, and the part of its state that a run has asked for, as data that goes elsewhere; `Code` stands for code. */
export type CarriedBlock<Code = SentCode> = {
  readonly block: BlockData
  readonly accounts: readonly CarriedAccount<Code>[]
  readonly slots: readonly (readonly [address: Address, slot: Hex, value: bigint])[]
  readonly blockHashes: readonly (readonly [number: bigint, hash: Hex])[]
}

/** The parts of a state to carry, each once. Most runs need no other thread, so names are made when one is asked for. */
export class Wanted {
  #added: (readonly Miss[] | Touched)[] = []
  readonly #parts = new Map<string, Miss>()

  add(parts: readonly Miss[] | Touched): void {
    this.#added.push(parts)
  }

  values(): Iterable<Miss> {
    for (const parts of this.#added)
      for (const part of 'accounts' in parts ? partsOf(parts) : parts)
        this.#parts.set(nameOf(part), part)
    this.#added = []
    return this.#parts.values()
  }
}

function* partsOf({ accounts, slots }: Touched): Iterable<Miss> {
  for (const address of accounts) yield { kind: 'account', address }
  for (const [address, touched] of slots)
    for (const slot of touched) yield { kind: 'slot', address, slot }
}

/** A part by name; the nonce of an account is carried with it. */
function nameOf(part: Miss): string {
  if (part.kind === 'slot') return part.address + part.slot
  return part.kind === 'blockHash' ? `${part.number}` : part.address
}

/** Whether `known` has this part of its state. */
export function knows(known: KnownBlock, part: Miss): boolean {
  switch (part.kind) {
    case 'account':
      return known.account(part.address) !== undefined
    case 'nonce':
      return known.account(part.address)?.nonce !== undefined
    case 'slot':
      return known.slot(part.address, part.slot) !== undefined
    case 'blockHash':
      return known.block.blockHash(part.number) !== undefined
  }
}

/** The wanted parts, as far as `known` has them; `send` gives what stands for code. */
export function packBlock<Code>(
  known: State & Pick<KnownBlock, 'block'>,
  wanted: Wanted,
  send: (code: Uint8Array) => Code,
): CarriedBlock<Code> {
  const { blockHash, chainPrecompiles, ...block } = known.block
  const accounts: CarriedAccount<Code>[] = []
  const slots: [Address, Hex, bigint][] = []
  const blockHashes: [bigint, Hex][] = []
  for (const part of wanted.values()) {
    if (part.kind === 'slot') {
      const value = known.slot(part.address, part.slot)
      if (value !== undefined) slots.push([part.address, part.slot, value])
    } else if (part.kind === 'blockHash') {
      const hash = blockHash(part.number)
      if (hash !== undefined) blockHashes.push([part.number, hash])
    } else {
      const { address } = part
      const account = known.account(address)
      if (account === undefined) continue
      const { nonce, balance, code } = account
      accounts.push({ address, nonce, balance, code: send(code) })
    }
  }
  const p256At = [...(chainPrecompiles?.keys() ?? [])]
  return { block: { ...block, p256At }, accounts, slots, blockHashes }
}

/** The block and the state that were packed. */
export function unpackBlock<Code>(
  { block: { p256At, ...block }, accounts, slots, blockHashes }: CarriedBlock<Code>,
  receive: (sent: Code) => Uint8Array,
): { readonly block: BlockEnv; readonly state: State } {
  const accountsAt = new Map(
    accounts.map(({ address, nonce, balance, code }) => [
      address,
      { nonce, balance, code: receive(code) },
    ]),
  )
  const slotsAt = new Map(slots.map(([address, slot, value]) => [address + slot, value]))
  const hashes = new Map(blockHashes)
  const chainPrecompiles = new Map(p256At.map((address) => [address, p256VerifyRip7212]))
  return {
    block: { ...block, chainPrecompiles, blockHash: (number) => hashes.get(number) },
    state: {
      account: (address) => accountsAt.get(address),
      slot: (address, slot) => slotsAt.get(address + slot),
    },
  }
}
