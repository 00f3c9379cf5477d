import type { Address, Hex } from 'viem'
import type { Miss, State } from '../../evm/index.js'
import type { AccessHints } from '../accessHints.js'
import type { CodeMemory } from './codeMemory.js'
import type { TouchMemory, Traces } from './touchMemory.js'

/** The slot in which an ERC-1967 proxy keeps the address of its implementation. */
const IMPLEMENTATION_SLOT: Hex =
  '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

/** Code and touched state, as earlier executions have shown them. */
export type AccessMemory = { readonly codes: CodeMemory; readonly touches: TouchMemory }

/** The state that an execution will likely touch; `isLearnt` when the most specific name told it. */
export type ExpectedReads = { readonly reads: readonly Miss[]; readonly isLearnt: boolean }

/** The reads that `hints` name and those that earlier executions of the same name have needed. */
export function expectedReads(
  { codes, touches }: AccessMemory,
  hints: AccessHints,
  known: State,
): ExpectedReads {
  const names = namesWithCode(codes, hints.names, hints.sender, known)
  const at = names.findIndex((name) => touches.knows(name))
  const recalled = at < 0 ? [] : touches.recall(names[at] as string, hints)
  const slots = hints.slots.map(([address, slot]) => ({ kind: 'slot', address, slot }) as const)
  const nonces = hints.creators.map((address) => ({ kind: 'nonce', address }) as const)
  const accounts = hints.accounts.flatMap((address) => readsOfContract(codes, address))
  return { reads: [...accounts, ...nonces, ...slots, ...recalled], isLearnt: at === 0 }
}

/** Remembers what an execution touched, under its most specific and its most general name. */
export function rememberTouched(
  { codes, touches }: AccessMemory,
  hints: AccessHints,
  known: State,
  { touched, preimages }: Traces,
): void {
  const [name] = hints.names
  const general = hints.names.at(-1) ?? name
  const names = [...namesWithCode(codes, [name], hints.sender, known), general]
  touches.learn(names, hints, touched, preimages)
}

/** `names` joined with the hash of the sender's code, which tells most, before `names` alone. */
function namesWithCode(
  codes: CodeMemory,
  names: readonly string[],
  sender: Address,
  known: State,
): string[] {
  const code = codes.at(sender) ?? known.account(sender)?.code
  const hash = code && codes.hashOf(code)
  return hash === undefined ? [...names] : [...names.map((name) => `${name} ${hash}`), ...names]
}

/** A contract that is met for the first time may be a proxy: reading its slot now saves a round. */
function readsOfContract(codes: CodeMemory, address: Address): Miss[] {
  const account = { kind: 'account', address } as const
  if (codes.at(address) !== undefined) return [account]
  return [account, { kind: 'slot', address, slot: IMPLEMENTATION_SLOT }]
}
