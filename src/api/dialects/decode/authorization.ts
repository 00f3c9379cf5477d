import type { Authorization } from '../../../entrypoint/operation.js'
import { decodeAddress, decodeWord } from './bytes.js'
import { decodeObject, member } from './members.js'
import { decodeInteger, decodeQuantity } from './quantity.js'

const MAX_UINT64 = 2n ** 64n - 1n

/** The signed EIP-7702 tuple of an operation. */
export function decodeAuthorization(value: unknown, field: string): Authorization {
  const object = decodeObject(value, field)
  const of = (name: string) => [member(object, name), `${field}.${name}`] as const
  return {
    chainId: decodeInteger(...of('chainId'), { min: 0, max: Number.MAX_SAFE_INTEGER }),
    address: decodeAddress(...of('address')),
    nonce: decodeQuantity(...of('nonce'), MAX_UINT64),
    yParity: decodeInteger(...of('yParity'), { min: 0, max: 1 }) === 0 ? 0 : 1,
    r: decodeWord(...of('r')),
    s: decodeWord(...of('s')),
  }
}
