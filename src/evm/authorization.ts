import type { Address, Hex } from 'viem'
import { fromHex, toBytes, toHex } from './bytes/hex.js'
import { keccak } from './bytes/keccak.js'
import { encodeRlp, integerBytes } from './bytes/rlp.js'
import { AUTHORIZATION_REFUND } from './gasCosts.js'
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

/** Applies an EIP-7702 authorization list; tuples that are not valid are ignored. */
export function applyAuthorizations(
  machine: Machine,
  authorizations: readonly EvmAuthorization[],
): void {
  for (const authorization of authorizations) apply(machine, authorization)
}

function apply(machine: Machine, authorization: EvmAuthorization): void {
  const { world, block } = machine
  const { chainId, nonce, address } = authorization
  if (chainId !== 0n && chainId !== block.chainId) return
  if (nonce >= MAX_NONCE) return
  const signer = authorityOf(authorization)
  if (signer === undefined) return
  const authority = world.account(signer)
  world.warm(authority)
  const { code } = world.load(authority)
  if (code.bytes.length > 0 && code.delegate === undefined) return
  if (world.nonceOf(authority) !== nonce) return
  if (!world.isEmpty(authority)) world.addRefund(AUTHORIZATION_REFUND)
  world.setCode(authority, address === NO_DELEGATE ? emptyCode : codeOf(designator(address)))
  world.setNonce(authority, nonce + 1n)
}

function designator(address: Hex): Uint8Array {
  return fromHex(`0xef0100${address.slice(2)}`)
}
