import type { Address } from 'viem'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import type { SigningPhase } from '../../../paymaster/sponsorship.js'
import type { Permit } from '../../../paymaster/tokenData.js'
import { decodeAddress, decodeBytes } from './bytes.js'
import { decodeObject, type Members, member } from './members.js'
import { decodeInteger, decodeQuantity } from './quantity.js'

/** The paymaster mode object, decoded, without the operation it belongs to. */
export type Mode =
  | {
      readonly mode: 'SPONSORED'
      readonly calculateGasLimits: boolean
      readonly expiryDuration: number | undefined
      readonly webhookData: Members | undefined
      readonly signingPhase: SigningPhase | undefined
      readonly separateSignature: boolean
    }
  | TokenContext

/** The mode object of mode ERC20. */
export type TokenContext = {
  readonly mode: 'ERC20'
  readonly calculateGasLimits: boolean
  readonly expiryDuration: number | undefined
  /** The token to pay with; undefined = the client named none, or several. */
  readonly token: Address | undefined
  /** The tokens to quote; empty = all. */
  readonly tokens: readonly Address[]
  readonly permit: Permit | undefined
}

const MAX_TOKENS = 100
/** A century: what lies within is judged by the paymaster. */
const MAX_EXPIRY_DURATION = 3_155_760_000

/** The mode object of pm_sponsorUserOperation, in which the mode is mandatory. */
export function decodeMode(value: unknown, field: string): Mode {
  const object = decodeObject(value, field)
  if (member(object, 'mode') === undefined)
    throw new InvalidParamsError(`${field}.mode`, 'is mandatory: "SPONSORED" or "ERC20".')
  const mode = decodeContext(object, field)
  if (mode.mode === 'SPONSORED' && mode.signingPhase !== undefined)
    throw new InvalidParamsError(
      `${field}.signingPhase`,
      'belongs to pm_getPaymasterStubData ("commit") and pm_getPaymasterData ("finalize").',
    )
  return mode
}

/** The mode object of pm_getFeeQuoteOrData: clients that ask for quotes may leave the mode away. */
export function decodeQuoteContext(value: unknown, field: string): Mode {
  const object = value === undefined || value === null ? {} : decodeObject(value, field)
  const asksForQuotes = member(object, 'mode') === undefined && member(object, 'tokenInfo')
  return decodeContext(asksForQuotes ? { ...object, mode: 'ERC20' } : object, field)
}

/**
 * The mode object of the other paymaster methods: clients leave the mode or the whole object away. Those of ERC-7677
 * name a token as `token`, without a mode.
 */
export function decodeContext(value: unknown, field: string): Mode {
  const object = value === undefined || value === null ? {} : decodeObject(value, field)
  const name = member(object, 'mode') ?? (member(object, 'token') ? 'ERC20' : 'SPONSORED')
  if (name === 'ERC20') return decodeTokenContext(object, field)
  if (name !== 'SPONSORED' && name !== 'SPONSORSHIP')
    throw new InvalidParamsError(`${field}.mode`, 'must be "SPONSORED" or "ERC20".')
  return {
    mode: 'SPONSORED',
    calculateGasLimits: decodeBoolean(object, 'calculateGasLimits', field) ?? false,
    expiryDuration: decodeExpiryDuration(object, field),
    webhookData: decodeWebhookData(object, field),
    signingPhase: decodeSigningPhase(object, field),
    separateSignature: decodeBoolean(object, 'separateSignature', field) ?? false,
  }
}

function decodeSigningPhase(object: Members, field: string): SigningPhase | undefined {
  const value = member(object, 'signingPhase')
  if (value === undefined || value === 'commit' || value === 'finalize') return value
  throw new InvalidParamsError(`${field}.signingPhase`, 'must be "commit" or "finalize".')
}

function decodeBoolean(object: Members, name: string, field: string): boolean | undefined {
  const value = member(object, name)
  if (value !== undefined && typeof value !== 'boolean')
    throw new InvalidParamsError(`${field}.${name}`, 'must be true or false.')
  return value
}

/** Clients of Pimlico say `validForSeconds`. */
function decodeExpiryDuration(object: Members, field: string): number | undefined {
  const name = member(object, 'expiryDuration') === undefined ? 'validForSeconds' : 'expiryDuration'
  const value = member(object, name)
  if (value === undefined) return undefined
  return decodeInteger(value, `${field}.${name}`, { min: 1, max: MAX_EXPIRY_DURATION })
}

function decodeWebhookData(object: Members, field: string): Members | undefined {
  const value = member(object, 'sponsorshipInfo')
  if (value === undefined) return undefined
  const path = `${field}.sponsorshipInfo`
  const info = decodeObject(value, path)
  const account = member(info, 'smartAccountInfo')
  if (account !== undefined) checkSmartAccountInfo(account, `${path}.smartAccountInfo`)
  const webhookData = member(info, 'webhookData')
  if (webhookData === undefined) return undefined
  const data = decodeObject(webhookData, `${path}.webhookData`)
  const size = Buffer.byteLength(JSON.stringify(data))
  if (size > MAX_WEBHOOK_DATA)
    throw new InvalidParamsError(
      `${path}.webhookData`,
      `has ${size} bytes as JSON; ${MAX_WEBHOOK_DATA} are allowed.`,
    )
  return data
}

/** Bytes of JSON. Receivers have small limits of their own, and the caller chooses the data. */
const MAX_WEBHOOK_DATA = 16_384

/** The account info decides nothing, but a malformed one shows a mistake of the caller. */
function checkSmartAccountInfo(value: unknown, field: string): void {
  const info = decodeObject(value, field)
  for (const name of ['name', 'version']) {
    const text = member(info, name)
    if (text !== undefined && typeof text !== 'string')
      throw new InvalidParamsError(`${field}.${name}`, 'must be a string.')
  }
}

function decodeTokenContext(object: Members, field: string): TokenContext {
  const named = member(object, 'token')
  const permit = member(object, 'permit')
  return {
    mode: 'ERC20',
    calculateGasLimits: decodeBoolean(object, 'calculateGasLimits', field) ?? false,
    expiryDuration: decodeExpiryDuration(object, field),
    permit: permit === undefined ? undefined : decodePermit(permit, `${field}.permit`),
    ...(named === undefined
      ? decodeTokenInfo(member(object, 'tokenInfo') ?? {}, `${field}.tokenInfo`)
      : ofOne(decodeAddress(named, `${field}.token`))),
  }
}

function ofOne(token: Address) {
  return { token, tokens: [token] }
}

/** `feeTokenAddress`, else `preferredToken`, else a `tokenList` of one: what clients use. */
function decodeTokenInfo(value: unknown, field: string): Pick<TokenContext, 'token' | 'tokens'> {
  const info = decodeObject(value, field)
  const feeToken = decodeToken(info, 'feeTokenAddress', field)
  const preferred = decodeToken(info, 'preferredToken', field)
  const list = member(info, 'tokenList') ?? []
  if (!Array.isArray(list) || list.length > MAX_TOKENS)
    throw new InvalidParamsError(
      `${field}.tokenList`,
      `must be an array of at most ${MAX_TOKENS} addresses.`,
    )
  const listed = list.map((token, index) => decodeAddress(token, `${field}.tokenList[${index}]`))
  const token = feeToken ?? preferred ?? (listed.length === 1 ? listed[0] : undefined)
  const named = [feeToken, preferred].filter((each) => each !== undefined)
  return { token, tokens: [...new Set([...named, ...listed])] }
}

function decodeToken(info: Members, name: string, field: string): Address | undefined {
  const token = member(info, name)
  return token === undefined || token === '' ? undefined : decodeAddress(token, `${field}.${name}`)
}

/** EIP-2612, with its signature as r, s and v in 65 bytes. */
function decodePermit(value: unknown, field: string): Permit {
  const permit = decodeObject(value, field)
  const signature = decodeBytes(member(permit, 'signature'), `${field}.signature`, 65)
  if (signature.length !== 2 + 2 * 65)
    throw new InvalidParamsError(`${field}.signature`, 'must have 65 bytes: r, s and v.')
  return {
    value: decodeQuantity(member(permit, 'value'), `${field}.value`),
    deadline: decodeQuantity(member(permit, 'deadline'), `${field}.deadline`),
    signature,
  }
}
