import type { Address, Hex } from 'viem'
import { fromHex, toBytes, toHex } from './bytes/hex.js'
import { keccak } from './bytes/keccak.js'
import { encodeRlp, integerBytes } from './bytes/rlp.js'
import { chargeState, type GasBudget } from './machine/gasBudget.js'
import type { Machine } from './machine/machine.js'
import { addressOfSigner } from './precompiles/ecrecover.js'
import { codeOf, emptyCode } from './state/code.js'

/** A signed EIP-7702 authorization: its signer wants to run `address`'s code. */
export type EvmAuthorization = {
  chainId: bigint
  address: Address
  nonce: bigint
  yParity: number
  r: bigint
  s: bigint
}

const MAGIC = 0x05
const MAX_NONCE = 2n ** 64n - 1n
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const NO_DELEGATE: Address = '0x0000000000000000000000000000000000000000'

/** The signer of the authorization; undefined when the signature is not valid. */
export function authorityOf(authorization: EvmAuthorization): Address | undefined {
  const { chainId, address, nonce, yParity, r, s } = authorization
  if ((yParity !== 0 && yParity !== 1) || s > HALF_ORDER) return undefined
  const tuple = encodeRlp([integerBytes(chainId), fromHex(address), integerBytes(nonce)])
  const signed = new Uint8Array(tuple.length + 1)
  signed[0] = MAGIC
  signed.set(tuple, 1)
  const signature = new Uint8Array(64)
  signature.set(toBytes(r, 32))
  signature.set(toBytes(s, 32), 32)
  const signer = addressOfSigner(keccak(signed), signature, yParity)
  return signer === undefined ? undefined : toHex(signer)
}

/** The parts of a transaction that decide what its authorizations cost. */
export type Authorized = {
  from: Address
  to?: Address | undefined
  /** Wei. */
  value: bigint
  authorizations?: readonly EvmAuthorization[] | undefined
}

/** What of an authority is paid for already (EIP-2780): the write of its account, and its designator. */
type PaidAuthority = { written: boolean; designated: boolean }

/**
 * Applies an EIP-7702 authorization list; tuples that are not valid are ignored. False when the gas does not
 * suffice (EIP-8037).
 */
export function applyAuthorizations(
  machine: Machine,
  { from, to, value, authorizations = [] }: Authorized,
  budget: GasBudget,
): boolean {
  // The base of a transaction pays the write of its sender, and its value that of its recipient.
  const written = new Set([from, value === 0n ? undefined : to])
  const paid = new Map<Address, PaidAuthority>()
  return authorizations.every((one) => apply(machine, one, budget, written, paid))
}

function apply(
  machine: Machine,
  authorization: EvmAuthorization,
  budget: GasBudget,
  prepaid: ReadonlySet<Address | undefined>,
  paid: Map<Address, PaidAuthority>,
): boolean {
  const { world, block } = machine
  const { chainId, nonce, address } = authorization
  if (chainId !== 0n && chainId !== block.chainId) return true
  if (nonce >= MAX_NONCE) return true
  const signer = authorityOf(authorization)
  if (signer === undefined) return true
  const authority = world.account(signer)
  world.warm(authority)
  const { code } = world.load(authority)
  if (code.bytes.length > 0 && code.delegate === undefined) return true
  if (world.nonceOf(authority) !== nonce) return true
  const { gas: costs } = machine.rules
  const before = paid.get(signer) ?? {
    written: prepaid.has(signer),
    designated: code.delegate !== undefined,
  }
  const empty = world.isEmpty(authority)
  const designates = address !== NO_DELEGATE
  if (!empty) world.addRefund(costs.authorizationRefund)
  if (!before.written) budget.gas -= costs.authorizationWrite
  const account = empty ? costs.newAccountState : 0
  const designator = designates && !before.designated ? costs.authorizationState : 0
  if (budget.gas < 0 || !chargeState(budget, account + designator)) return false
  paid.set(signer, { written: true, designated: before.designated || designates })
  world.setCode(authority, designates ? codeOf(designatorOf(address)) : emptyCode)
  world.setNonce(authority, nonce + 1n)
  return true
}

function designatorOf(address: Hex): Uint8Array {
  return fromHex(`0xef0100${address.slice(2)}`)
}
