import type { Address } from 'viem'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import type { SigningPhase } from '../../../paymaster/sponsorship.js'
import { decodeAddress } from './bytes.js'
import { decodeObject, type Members, member } from './members.js'
import { decodeInteger } from './quantity.js'

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
  | { readonly mode: 'ERC20'; readonly tokens: readonly Address[] }

const maxTokens = 100
/** A century: what lies within is judged by the paymaster. */
const maxExpiryDuration = 3_155_760_000

/** Of pm_sponsorUserOperation: the mode is mandatory, and mode ERC20 needs a token. */
export const decodeMode = (value: unknown, field: string): Mode => {
  const object = decodeObject(value, field)
  if (member(object, 'mode') === undefined)
    throw new InvalidParamsError(`${field}.mode`, 'is mandatory: "SPONSORED" or "ERC20".')
  const mode = decodeContext(object, field)
  if (mode.mode === 'SPONSORED' && mode.signingPhase !== undefined)
    throw new InvalidParamsError(
      `${field}.signingPhase`,
      'belongs to pm_getPaymasterStubData ("commit") and pm_getPaymasterData ("finalize").',
    )
  if (mode.mode === 'ERC20' && mode.tokens.length === 0)
    throw new InvalidParamsError(
      `${field}.tokenInfo.feeTokenAddress`,
      'is missing: mode ERC20 needs the address of the token to pay with.',
    )
  return mode
}

/** Of the other paymaster methods: clients leave the mode or the whole object away. */
export const decodeContext = (value: unknown, field: string): Mode => {
  const object = value === undefined || value === null ? {} : decodeObject(value, field)
  const name = member(object, 'mode') ?? 'SPONSORED'
  if (name === 'ERC20') return { mode: 'ERC20', tokens: decodeTokens(object, field) }
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

const decodeSigningPhase = (object: Members, field: string): SigningPhase | undefined => {
  const value = member(object, 'signingPhase')
  if (value === undefined || value === 'commit' || value === 'finalize') return value
  throw new InvalidParamsError(`${field}.signingPhase`, 'must be "commit" or "finalize".')
}

const decodeBoolean = (object: Members, name: string, field: string): boolean | undefined => {
  const value = member(object, name)
  if (value !== undefined && typeof value !== 'boolean')
    throw new InvalidParamsError(`${field}.${name}`, 'must be true or false.')
  return value
}

const decodeExpiryDuration = (object: Members, field: string): number | undefined => {
  const value = member(object, 'expiryDuration')
  if (value === undefined) return undefined
  return decodeInteger(value, `${field}.expiryDuration`, { min: 1, max: maxExpiryDuration })
}

const decodeWebhookData = (object: Members, field: string): Members | undefined => {
  const value = member(object, 'sponsorshipInfo')
  if (value === undefined) return undefined
  const path = `${field}.sponsorshipInfo`
  const info = decodeObject(value, path)
  const account = member(info, 'smartAccountInfo')
  if (account !== undefined) checkSmartAccountInfo(account, `${path}.smartAccountInfo`)
  const webhookData = member(info, 'webhookData')
  return webhookData === undefined ? undefined : decodeObject(webhookData, `${path}.webhookData`)
}

/** It decides nothing, but a malformed one shows a mistake of the caller. */
const checkSmartAccountInfo = (value: unknown, field: string): void => {
  const info = decodeObject(value, field)
  for (const name of ['name', 'version']) {
    const text = member(info, name)
    if (text !== undefined && typeof text !== 'string')
      throw new InvalidParamsError(`${field}.${name}`, 'must be a string.')
  }
}

/** `feeTokenAddress`, else `preferredToken`, else `tokenList`: what clients use. */
const decodeTokens = (object: Members, field: string): readonly Address[] => {
  const value = member(object, 'tokenInfo')
  if (value === undefined) return []
  const path = `${field}.tokenInfo`
  const info = decodeObject(value, path)
  for (const name of ['feeTokenAddress', 'preferredToken']) {
    const token = member(info, name)
    if (token !== undefined && token !== '') return [decodeAddress(token, `${path}.${name}`)]
  }
  const list = member(info, 'tokenList') ?? []
  if (!Array.isArray(list) || list.length > maxTokens)
    throw new InvalidParamsError(
      `${path}.tokenList`,
      `must be an array of at most ${maxTokens} addresses.`,
    )
  return list.map((token, index) => decodeAddress(token, `${path}.tokenList[${index}]`))
}
