import type { Address } from 'viem'
import { OperationLimitError, ValidationRejectedError } from '../base/errors/operationErrors.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { type DelegableAccount, delegateOf } from '../chain/delegations.js'
import { DELEGATION_MARKER } from '../erc4337/delegation.js'
import type { Authorization, Operation } from '../erc4337/operation.js'
import { type Version, versionFacts } from '../erc4337/versionFacts.js'
import { authorityOf } from '../evm/index.js'

type Delegating = Pick<Operation, 'sender' | 'factory' | 'authorization'>

/**
 * Checks the EIP-7702 part of an operation without its signature, so that of a draft too.
 *
 * An authorization is applied before the EntryPoint runs, which then meets an account with code: any
 * version can serve it. Operations of v0.6 have no field for one (ERC-7769), so there it is refused;
 * v0.7 takes it, but does not know the marker `0x7702` that v0.8 and later accept as factory and would
 * call it as a contract. The chain id is ours, or 0 for every chain.
 *
 * Throws OperationLimitError (-32602).
 */
export function requireDelegation(
  version: Version,
  op: Delegating,
  { chainId }: Pick<ChainDefinition, 'chainId'>,
): void {
  const { authorization, factory } = op
  const { carriesAuthorization, knowsDelegationMarker } = versionFacts[version]
  if (factory === DELEGATION_MARKER && !knowsDelegationMarker) {
    throw new OperationLimitError(
      'factory',
      `EntryPoint v${version} does not know the EIP-7702 marker ${DELEGATION_MARKER}; send no factory`,
    )
  }
  if (authorization === undefined) return
  if (!carriesAuthorization) {
    throw refused(`operations of EntryPoint v${version} have none; delegate the account beforehand`)
  }
  if (factory !== undefined && factory !== DELEGATION_MARKER) {
    throw refused(`the account has code once it delegates, so factory ${factory} cannot create it`)
  }
  const { chainId: signedFor } = authorization
  if (signedFor !== 0 && signedFor !== chainId) {
    throw refused(
      `its chainId is ${signedFor}; sign it for ${chainId}, or for 0, which is every chain`,
    )
  }
}

/**
 * Checks that the sender has signed the authorization, in the only form that EIP-7702 accepts: s in the
 * lower half of the curve's order, y parity 0 or 1, nonce below 2^64 - 1. The chain ignores any other in
 * silence, at the bundler's cost. Throws OperationLimitError (-32602).
 */
export function requireAuthorizationSigner({ sender, authorization }: Delegating): void {
  if (authorization === undefined) return
  const { chainId, address, nonce, yParity, r, s } = authorization
  if (nonce >= MAX_NONCE) throw refused(`nonce ${nonce} is the highest there is and never applies`)
  const tuple = { chainId: BigInt(chainId), address, nonce, yParity }
  const signer = authorityOf({ ...tuple, r: BigInt(r), s: BigInt(s) })
  if (signer === undefined) throw refused('its signature is not valid (EIP-7702 wants a low s)')
  if (signer !== sender) throw refused(`it is signed by ${signer}, not by the sender ${sender}`)
}

const MAX_NONCE = 2n ** 64n - 1n
const NO_DELEGATE: Address = '0x0000000000000000000000000000000000000000'

/**
 * The effect of a well signed authorization on the account as it is:
 * - `applies`: delegates it;
 * - `inPlace`: nothing, as the account delegates to this address already;
 * - `early`, `stale`: nothing, the account's nonce is lower or higher than the one signed;
 * - `contract`: nothing, and never will, the account has code of its own.
 */
type AuthorizationEffect = 'applies' | 'inPlace' | 'early' | 'stale' | 'contract'

export function authorizationEffect(
  { address, nonce }: Pick<Authorization, 'address' | 'nonce'>,
  account: DelegableAccount,
): AuthorizationEffect {
  const delegate = delegateOf(account.code)
  if (account.code !== '0x' && delegate === undefined) return 'contract'
  if ((delegate ?? NO_DELEGATE) === address) return 'inPlace'
  if (nonce === account.nonce) return 'applies'
  return nonce > account.nonce ? 'early' : 'stale'
}

/**
 * Checks that an authorization applies to the sender as the latest block has it, and still when the
 * sender's own pending transactions are mined (`pendingNonce`), or that it is in place already: another
 * one would be carried for nothing. Returns its effect.
 *
 * @throws ValidationRejectedError (-32500) for another nonce than the account's: the EntryPoint would meet an
 * account without the code that was signed for, which is AA20 where it has none
 * @throws OperationLimitError (-32602) for a sender that can never delegate
 */
export function requireAuthorizationApplies(
  authorization: Authorization,
  account: DelegableAccount,
  pendingNonce: bigint,
): 'applies' | 'inPlace' {
  const effect = authorizationEffect(authorization, account)
  const { nonce } = authorization
  switch (effect) {
    case 'inPlace':
      return effect
    case 'contract':
      throw refused('the sender is a contract; only an externally owned account can delegate')
    case 'early':
    case 'stale':
      throw wrongNonce(`it has nonce ${nonce}, the sender's account is at ${account.nonce}`)
    case 'applies':
      if (pendingNonce === nonce) return effect
      throw wrongNonce(
        `a pending transaction of the sender uses nonce ${nonce}; sign it for ${pendingNonce} when that is mined`,
      )
  }
}

function refused(reason: string): OperationLimitError {
  return new OperationLimitError('eip7702Auth', reason)
}

function wrongNonce(reason: string): ValidationRejectedError {
  return new ValidationRejectedError({ message: `eip7702Auth: ${reason}` })
}
