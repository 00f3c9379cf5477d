import { depositSlot } from '../erc4337/encoding/storageLayout.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { StateBefore } from '../erc4337/forkGas.js'
import type { Operation } from '../erc4337/operation.js'
import type { State } from '../evm/index.js'

/** The most expensive is supposed of what was not read. */
export function stateBefore(
  state: State,
  { address }: EntryPoint,
  { sender, authorization }: Operation,
): StateBefore {
  const account = state.account(sender)
  const isDelegated = (account?.code.length ?? 0) > 0
  // An authorization holds only with the nonce that its signer has.
  const exists = (account?.balance ?? 0n) > 0n || (authorization?.nonce ?? 0n) > 0n
  return {
    authority: isDelegated ? 'delegated' : exists ? 'plain' : 'absent',
    hasDeposit: (state.slot(address, depositSlot(sender)) ?? 0n) > 0n,
  }
}
