import { nearestOf } from '../../../base/suggest.js'
import type { Address } from 'viem'
import { z } from 'zod'
import {
  InvalidParamsError,
  UnsupportedEntryPointError,
} from '../../../base/errors/requestErrors.js'
import type { EntryPoint } from '../../../erc4337/entryPoint.js'
import type { SigningPhase, SponsorshipRequest } from '../../../paymaster/sponsorship.js'
import type { Permit } from '../../../paymaster/tokenData.js'
import type { QuoteRequest, TokenRequest } from '../../../paymaster/tokenPayment.js'
import { chainId, entryPoint } from './entryPoint.js'
import {
  decodeCommitted,
  decodePartialOperation,
  isUnpacked,
  partialOperation,
} from './operation.js'
import {
  address,
  type Decoded,
  type DecodeContext,
  decodeAddress,
  decodeBytes,
  decodeInteger,
  decodeObject,
  decodeQuantity,
  type Input,
  type Members,
  member,
} from './values.js'

/** A decoded request for sponsorship; the app comes from the key in the path. */
export type SponsoredMode = Omit<SponsorshipRequest, 'appId' | 'requester'> & {
  readonly mode: 'SPONSORED'
  readonly separateSignature: boolean
  /** The form in which the client takes a refusal: only the interface's own has a result for it. */
  readonly refusal: 'result' | 'error'
}

/** A decoded request to pay in tokens, or to hear what that costs; the app comes from the key. */
type TokenModeParams = Omit<TokenRequest & QuoteRequest, 'appId' | 'requester'> & {
  readonly mode: 'ERC20'
}

export type PaymasterRequest = SponsoredMode | TokenModeParams

/** How a paymaster shall pay; see docs/build/api.md for its members. */
const modeJson = z
  .looseObject({
    mode: z.enum(['SPONSORED', 'SPONSORSHIP', 'ERC20']).optional(),
    token: address.json.optional(),
    calculateGasLimits: z.boolean().optional(),
    expiryDuration: z.int().min(1).max(3_155_760_000).optional(),
    sponsorshipInfo: z.looseObject({}).optional(),
    sponsorshipPolicyId: z.string().or(z.array(z.string())).optional(),
    tokenInfo: z.looseObject({}).optional(),
  })
  .meta({ id: 'Mode' })

const mode: Input<Mode> = { json: modeJson, decode: decodeMode }

/** The mode object of the other paymaster methods, which may be missing. */
export const context: Input<Mode> = { json: modeJson.nullable().optional(), decode: decodeContext }
export const quoteContext: Input<Mode> = { json: context.json, decode: decodeQuoteContext }

/** A mode object, or the EntryPoint that clients of other services name before their context. */
export const modeOrEntryPoint: Input<Mode | EntryPoint> = {
  json: z.union([modeJson, address.json]),
  decode: (value, field, chain) => {
    const isHex = typeof value === 'string' && value.startsWith('0x')
    return (isHex ? entryPoint : mode).decode(value, field, chain)
  },
}

/** The parameters of ERC-7677, which writes chain ids in hex; numbers are taken too. */
export const erc7677Params = { operation: partialOperation, entryPoint, chainId, context }

/** The request of parameters of ERC-7677. The account may sign first in `phase` only. */
export function decodePaymasterParams(phase: SigningPhase) {
  return ({
    operation,
    entryPoint,
    context,
  }: Omit<Decoded<typeof erc7677Params>, 'chainId'>): PaymasterRequest => {
    if (context.mode === 'SPONSORED' && context.signingPhase !== undefined)
      requirePhase(context.signingPhase, phase, entryPoint)
    return withOperation(context, operation, entryPoint, 'error')
  }
}

function requirePhase(named: SigningPhase, phase: SigningPhase, entryPoint: EntryPoint): void {
  if (named !== phase)
    throw new InvalidParamsError(
      'params[3].signingPhase',
      `must be "${phase}" here: commit by pm_getPaymasterStubData, finalize by pm_getPaymasterData.`,
    )
  if (!entryPoint.paymasterMaySignLate)
    throw new InvalidParamsError(
      'params[3].signingPhase',
      `needs EntryPoint v0.9: in v${entryPoint.version} the account signs the paymaster's signature.`,
    )
}

/** The request of a mode object for the operation in params[0]. */
export function withOperation(
  mode: Mode,
  operation: unknown,
  entryPoint: EntryPoint,
  refusal: SponsoredMode['refusal'],
): PaymasterRequest {
  const { version } = entryPoint
  if (mode.mode === 'ERC20')
    return { ...mode, entryPoint, draft: decodePartialOperation(operation, 'params[0]', version) }
  const decode = mode.signingPhase === 'finalize' ? decodeCommitted : decodePartialOperation
  return { ...mode, entryPoint, refusal, draft: decode(operation, 'params[0]', version) }
}

/**
 * The EntryPoint of an operation where the parameters name none, by the shape of the operation:
 * separate fields of factory or paymaster mean v0.7 or later, the first such one that the chain has.
 */
export function inferEntryPoint(operation: unknown, { entryPoints }: DecodeContext): EntryPoint {
  const candidates = [...entryPoints.values()]
  const unpacked = isUnpacked(operation)
  const inferred =
    candidates.find(({ packsEntities }) => packsEntities !== unpacked) ?? candidates[0]
  if (inferred === undefined) throw new UnsupportedEntryPointError('none', [])
  return inferred
}

/** The paymaster mode object, decoded, without the operation it belongs to. */
type Mode =
  | {
      readonly mode: 'SPONSORED'
      readonly calculateGasLimits: boolean
      readonly expiryDuration: number | undefined
      readonly policyIds: readonly string[] | undefined
      readonly webhookData: Members | undefined
      readonly signingPhase: SigningPhase | undefined
      readonly separateSignature: boolean
    }
  | TokenContext

/** The mode object of mode ERC20. */
type TokenContext = {
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
function decodeMode(value: unknown, field: string): Mode {
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
function decodeQuoteContext(value: unknown, field: string): Mode {
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
  requireKnown(object, field, contextMembers)
  const name = member(object, 'mode') ?? (member(object, 'token') ? 'ERC20' : 'SPONSORED')
  if (name === 'ERC20') return decodeTokenContext(object, field)
  if (name !== 'SPONSORED' && name !== 'SPONSORSHIP')
    throw new InvalidParamsError(`${field}.mode`, 'must be "SPONSORED" or "ERC20".')
  return {
    mode: 'SPONSORED',
    calculateGasLimits: decodeBoolean(object, 'calculateGasLimits', field) ?? false,
    expiryDuration: decodeExpiryDuration(object, field),
    policyIds: decodePolicyIds(object, field),
    webhookData: decodeWebhookData(object, field),
    signingPhase: decodeSigningPhase(object, field),
    separateSignature: decodeBoolean(object, 'separateSignature', field) ?? false,
  }
}

const MAX_POLICY_IDS = 10
const policyName = z.string().min(1).max(100)
const policyNames = policyName
  .transform((one) => [one])
  .or(z.array(policyName).min(1).max(MAX_POLICY_IDS))
  .optional()

/** How clients of Pimlico (`sponsorshipPolicyId`) and Alchemy (`policyId`, one or several) choose a policy. */
export function decodePolicyIds(object: Members, field: string): readonly string[] | undefined {
  const name = ['sponsorshipPolicyId', 'policyId'].find(
    (each) => member(object, each) !== undefined,
  )
  if (name === undefined) return undefined
  const parsed = policyNames.safeParse(member(object, name))
  if (parsed.success) return parsed.data
  const form = `must be an id or a name of at most 100 characters, or up to ${MAX_POLICY_IDS} of them.`
  throw new InvalidParamsError(`${field}.${name}`, form)
}

/** The members of a context. The last four belong to clients of other providers and choose nothing. */
const contextMembers = [
  'mode',
  'calculateGasLimits',
  'expiryDuration',
  'validForSeconds',
  'sponsorshipInfo',
  'webhookData',
  'tokenInfo',
  'token',
  'permit',
  'signingPhase',
  'separateSignature',
  'sponsorshipPolicyId',
  'policyId',
  'paymasterId',
  'type',
  'meta',
  'strictMode',
]

/** How clients of Alchemy and Coinbase name the token to pay with. */
const foreignNames = new Map([
  ['erc20Context', 'token'],
  ['erc20', 'token'],
])

/** Throws InvalidParamsError for a member that nobody would read: a choice with a slip in its name would be lost. */
function requireKnown(object: Members, field: string, known: readonly string[]): void {
  for (const name of Object.keys(object)) {
    if (known.includes(name) || object[name] === undefined) continue
    const near = foreignNames.get(name) ?? nearestOf(name, known)
    const hint =
      near === undefined
        ? `is unknown. Known are ${known.join(', ')}.`
        : `is unknown: did you mean ${near}?`
    throw new InvalidParamsError(`${field}.${name.slice(0, 40)}`, hint)
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

/** In `sponsorshipInfo`, else at the top, where clients of ERC-7677 write it. */
function decodeWebhookData(object: Members, field: string): Members | undefined {
  const infoPath = `${field}.sponsorshipInfo`
  const info = decodeObject(member(object, 'sponsorshipInfo') ?? {}, infoPath)
  requireKnown(info, infoPath, ['webhookData', 'smartAccountInfo'])
  const account = member(info, 'smartAccountInfo')
  if (account !== undefined) checkSmartAccountInfo(account, `${infoPath}.smartAccountInfo`)
  const ofInfo = member(info, 'webhookData')
  const webhookData = ofInfo ?? member(object, 'webhookData')
  if (webhookData === undefined) return undefined
  const path = `${ofInfo === undefined ? field : infoPath}.webhookData`
  const data = decodeObject(webhookData, path)
  const size = Buffer.byteLength(JSON.stringify(data))
  if (size > MAX_WEBHOOK_DATA)
    throw new InvalidParamsError(
      path,
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
