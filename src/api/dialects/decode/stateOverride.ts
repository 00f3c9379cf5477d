import type { Address, Hex } from 'viem'
import { numberToHex } from 'viem/utils'
import { z } from 'zod'
import { InvalidParamsError } from '../../../base/errors/requestErrors.js'
import type { StateOverride } from '../../../chain/ethCall.js'
import {
  addressJson,
  bytesIn,
  decodeAddress,
  decodeBytes,
  decodeObject,
  decodeQuantity,
  decodeWord,
  type Input,
  MAX_CODE_BYTES,
  member,
  quantity,
  shortWordJson,
} from './values.js'

const MAX_ACCOUNTS = 100
const MAX_SLOTS = 1_000
const MAX_UINT64 = 2n ** 64n - 1n

type AccountOverride = StateOverride[Address]

/**
 * The state override set of eth_estimateUserOperationGas. A field that we would not apply is
 * refused rather than ignored: an estimate on another state than the one that was named misleads.
 */
export function decodeStateOverride(value: unknown, field: string): StateOverride {
  const entries = Object.entries(decodeObject(value, field))
  if (entries.length > MAX_ACCOUNTS)
    throw new InvalidParamsError(field, `overrides more than ${MAX_ACCOUNTS} accounts.`)
  const accounts = new Map<Address, AccountOverride>()
  for (const [key, account] of entries) {
    const address = decodeAddress(key, `${field} key`)
    if (accounts.has(address))
      throw new InvalidParamsError(field, `overrides ${address} more than once.`)
    accounts.set(address, decodeAccount(account, `${field}.${address}`))
  }
  return Object.fromEntries(accounts)
}

const slots = z.record(shortWordJson, shortWordJson)
const account = z.strictObject({
  balance: quantity.json.optional(),
  nonce: quantity.json.optional(),
  code: bytesIn.optional(),
  state: slots.optional(),
  /** Refused together with `state`. */
  stateDiff: slots.optional(),
})
const overridable = Object.keys(account.shape)

/** The state of accounts for the time of one simulation. */
export const stateOverride: Input<StateOverride | undefined> = {
  json: z.record(addressJson, account).nullable().meta({ id: 'StateOverride' }).optional(),
  decode: (value, field) =>
    value === undefined || value === null ? undefined : decodeStateOverride(value, field),
}

function decodeAccount(value: unknown, field: string): AccountOverride {
  const object = decodeObject(value, field)
  const unknown = Object.keys(object).find((name) => !overridable.includes(name))
  if (unknown !== undefined)
    throw new InvalidParamsError(
      field,
      `cannot override ${JSON.stringify(unknown.slice(0, 40))}, only ${overridable.join(', ')}.`,
    )
  const [balance, nonce, code, state, stateDiff] = overridable.map((name) => member(object, name))
  if (state !== undefined && stateDiff !== undefined)
    throw new InvalidParamsError(field, 'may have state or stateDiff, not both.')
  return {
    ...(balance !== undefined && {
      balance: numberToHex(decodeQuantity(balance, `${field}.balance`)),
    }),
    ...(nonce !== undefined && {
      nonce: numberToHex(decodeQuantity(nonce, `${field}.nonce`, MAX_UINT64)),
    }),
    ...(code !== undefined && { code: decodeBytes(code, `${field}.code`, MAX_CODE_BYTES) }),
    ...(state !== undefined && { state: decodeSlots(state, `${field}.state`) }),
    ...(stateDiff !== undefined && { stateDiff: decodeSlots(stateDiff, `${field}.stateDiff`) }),
  }
}

function decodeSlots(value: unknown, field: string): Record<Hex, Hex> {
  const entries = Object.entries(decodeObject(value, field))
  if (entries.length > MAX_SLOTS)
    throw new InvalidParamsError(field, `overrides more than ${MAX_SLOTS} slots.`)
  return Object.fromEntries(
    entries.map(([slot, word]) => [
      decodeWord(slot, `${field} key`),
      decodeWord(word, `${field} value`),
    ]),
  )
}
