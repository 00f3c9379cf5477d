import { numberToHex } from 'viem/utils'
import { smallest } from '../../../base/bigints.js'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { decodeAddress, decodeOptionalBytes, MAX_CODE_BYTES } from './bytes.js'
import { decodeObject, type Members, member } from './members.js'
import { decodeQuantity } from './quantity.js'

/** Gas of a call: the most that any transaction may have (EIP-7825). */
const MAX_CALL_GAS = 16_777_216n

const quantities = ['value', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas']
/** Members that libraries put into every call and that change nothing in it. */
const ignored = ['nonce', 'type', 'chainId']
const known = ['from', 'to', 'data', 'input', 'gas', ...quantities, ...ignored]

/**
 * The transaction of eth_call as a node takes it, its gas at most MAX_CALL_GAS. A member that would not be
 * applied is refused rather than ignored: an answer to another call than the one that was asked misleads.
 */
export function decodeNodeCall(value: unknown, field: string): Members {
  const call = decodeObject(value, field)
  const unknown = Object.keys(call).find(
    (name) => !known.includes(name) && !isEmpty(member(call, name)),
  )
  if (unknown !== undefined)
    throw new InvalidParamsError(
      field,
      `cannot have ${JSON.stringify(unknown.slice(0, 40))}, only ${known.join(', ')}.`,
    )
  const gas = member(call, 'gas')
  const asked = gas === undefined ? MAX_CALL_GAS : decodeQuantity(gas, `${field}.gas`)
  const data = member(call, 'data') ?? member(call, 'input')
  return {
    ...decodeMember(call, 'from', field, decodeAddress),
    ...decodeMember(call, 'to', field, decodeAddress),
    data: decodeOptionalBytes(data, `${field}.data`, MAX_CODE_BYTES),
    gas: numberToHex(smallest(asked, MAX_CALL_GAS)),
    ...Object.assign(
      {},
      ...quantities.map((name) => decodeMember(call, name, field, decodeHexQuantity)),
    ),
  }
}

function decodeMember(
  call: Members,
  name: string,
  field: string,
  decode: (value: unknown, field: string) => unknown,
): Members {
  const value = member(call, name)
  return value === undefined ? {} : { [name]: decode(value, `${field}.${name}`) }
}

function decodeHexQuantity(value: unknown, field: string) {
  return numberToHex(decodeQuantity(value, field))
}

/** Libraries send an access list that is empty. */
function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0)
}
