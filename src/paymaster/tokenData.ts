import type { Address, Hex } from 'viem'
import { addressWord, digits, uintWord } from '../erc4337/encoding/abiWriter.js'
import { keccak } from '../erc4337/encoding/keccak.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { TimeRange } from '../erc4337/validationData.js'
import { encodeTankData, parseTankData } from './tank/tankData.js'
import { stubSignature } from '../gas/placeholder.js'
import { timeWord } from './tank/tankData.js'
import { promiseHash, type TankOperation } from './tank/tankTypedData.js'

/**
 * The time at which a token tank takes its tokens. `prefund`: during validation it takes the most
 * that the operation can cost, and later gives back the rest. `afterwards`: only when the operation
 * has run, so that the operation itself can approve the tank. `permit`: as prefund, after an
 * EIP-2612 permit that the data carries.
 */
export type TokenMode = 'prefund' | 'afterwards' | 'permit'

/** The modes by their number in the contract. */
const modes: readonly TokenMode[] = ['prefund', 'afterwards', 'permit']

/** The promise of a token tank's signer for one operation. */
export type TokenQuote = TimeRange & {
  readonly mode: TokenMode
  readonly token: Address
  /** smallest units of the token for 1e18 wei */
  readonly rate: bigint
  /** millionths of the rate; 1,000,000 = the cost and nothing more */
  readonly markup: number
  /** gas for postOp, all of which is charged; on v0.7 and later also the paymasterPostOpGasLimit */
  readonly postOpGas: bigint
  /** The receiver of the charge; the zero address is the tank itself. */
  readonly treasury: Address
}

/** A permit by EIP-2612, from the sender for its tank. */
export type Permit = { readonly value: bigint; readonly deadline: bigint; readonly signature: Hex }

/** A quote with the permit that mode `permit`, and no other, carries behind it. */
export type TokenTerms = { readonly quote: TokenQuote; readonly permit?: Permit | undefined }

/** The content of a token tank's paymasterData; with a permit in mode `permit` only. */
type TokenData = {
  readonly quote: TokenQuote
  readonly signature: Hex
  readonly permit: Permit | undefined
}

const QUOTE_END = 2 + 2 * 81
const SIGNED_END = QUOTE_END + 2 * 77
const PERMIT_END = SIGNED_END + 2 * 129

/**
 * The paymasterData of a token tank, the same for every EntryPoint version: mode(1) | token(20) |
 * rate(32) | markup(4) | postOpGas(4) | treasury(20) | validUntil(6) | validAfter(6) |
 * signature(65), and in mode `permit` value(32) | deadline(32) | signature(65). Throws RangeError
 * for a value that does not fit.
 */
export function encodeTokenData({ quote, signature, permit }: TokenData): Hex {
  if ((permit !== undefined) !== (quote.mode === 'permit')) {
    throw new RangeError('Mode permit, and no other, has a permit.')
  }
  const mode = unsigned(BigInt(modes.indexOf(quote.mode)), 1, 'mode')
  const terms =
    digits(quote.token) +
    unsigned(quote.rate, 32, 'rate') +
    unsigned(BigInt(quote.markup), 4, 'markup') +
    unsigned(quote.postOpGas, 4, 'postOpGas') +
    digits(quote.treasury)
  return `0x${mode}${terms}${digits(encodeTankData(quote, signature))}${permitDigits(permit)}`
}

/** The reverse of encodeTokenData; undefined for a mode or length that the tank would refuse. */
export function parseTokenData(paymasterData: Hex): TokenData | undefined {
  const mode = modes[Number.parseInt(paymasterData.slice(2, 4), 16)]
  const end = mode === 'permit' ? PERMIT_END : SIGNED_END
  if (mode === undefined || paymasterData.length !== end) return undefined
  const signed = parseTankData(`0x${paymasterData.slice(QUOTE_END, SIGNED_END)}`)
  if (signed === undefined) return undefined
  const { signature, ...range } = signed
  const read = (from: number, bytes: number): Hex =>
    `0x${paymasterData.slice(2 + 2 * from, 2 + 2 * (from + bytes))}`
  const quote = {
    mode,
    ...range,
    token: read(1, 20),
    rate: BigInt(read(21, 32)),
    markup: Number(read(53, 4)),
    postOpGas: BigInt(read(57, 4)),
    treasury: read(61, 20),
  }
  if (mode !== 'permit') return { quote, signature, permit: undefined }
  const [value, deadline] = [BigInt(read(158, 32)), BigInt(read(190, 32))]
  return { quote, signature, permit: { value, deadline, signature: read(222, 65) } }
}

function permitDigits(permit: Permit | undefined): string {
  if (permit === undefined) return ''
  if (permit.signature.length !== stubSignature.length) {
    throw new RangeError('A permit signature has 65 bytes.')
  }
  return (
    unsigned(permit.value, 32, 'value') +
    unsigned(permit.deadline, 32, 'deadline') +
    digits(permit.signature)
  )
}

function unsigned(value: bigint, bytes: number, name: string): string {
  if (value < 0n || value >> BigInt(8 * bytes) !== 0n) {
    throw new RangeError(`${name} must be an unsigned integer of at most ${bytes} bytes.`)
  }
  return value.toString(16).padStart(2 * bytes, '0')
}

const QUOTE_FIELDS =
  'uint8 mode,address token,uint256 rate,uint32 markup,uint32 postOpGas,address treasury,uint48 validUntil,uint48 validAfter'
const paymentHash = promiseHash('TokenPayment', `${QUOTE_FIELDS},bytes permit`)

/**
 * The hash that the tank's signer signs (getHash of the contract: EIP-712, no further prefix) to
 * take tokens for `op` as the terms say. Covers every field but the operation's signature.
 * @param delegate - the address that the sender's code points to, when it is an EIP-7702 account
 * already
 */
export function tokenPaymentHash(
  op: TankOperation,
  entryPoint: Pick<EntryPoint, 'version' | 'address'>,
  chainId: number,
  { quote, permit }: TokenTerms,
  delegate?: Address,
): Hex {
  const quoted =
    uintWord(BigInt(modes.indexOf(quote.mode)), 'mode') +
    addressWord(quote.token) +
    uintWord(quote.rate, 'rate') +
    uintWord(BigInt(quote.markup), 'markup') +
    uintWord(quote.postOpGas, 'postOpGas') +
    addressWord(quote.treasury) +
    timeWord(quote.validUntil) +
    timeWord(quote.validAfter)
  const promised = quoted + keccak(permitDigits(permit))
  return paymentHash(op, entryPoint, chainId, promised, delegate)
}
