import type { EntityReputation } from '../../../bundling/createDebugBundler.js'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import type { DebugOperations, DebugReputations, EntityParams } from '../../rpc/signatures.js'
import { decodeAddress } from './bytes.js'
import { type DecodeContext, decodeEntryPoint } from './entryPoint.js'
import { decodeObject, member } from './members.js'
import { decodeOperation } from './operation.js'
import { decodeInteger } from './quantity.js'

type Params = readonly unknown[]

export function decodeBundlingMode([mode]: Params): { mode: 'manual' | 'auto' } {
  if (mode !== 'manual' && mode !== 'auto')
    throw new InvalidParamsError('params[0]', 'must be "manual" or "auto".')
  return { mode }
}

/** [operations, entryPoint] */
export function decodeOperations([list, address]: Params, context: DecodeContext) {
  const entryPoint = decodeEntryPoint(address, 'params[1]', context)
  const operations = decodeList(list, (each, field) =>
    decodeOperation(each, field, entryPoint.version),
  )
  return { entryPoint, operations } satisfies DebugOperations
}

/** [entities, entryPoint] */
export function decodeReputations([list, address]: Params, context: DecodeContext) {
  const entryPoint = decodeEntryPoint(address, 'params[1]', context)
  return { entryPoint, entities: decodeList(list, decodeReputation) } satisfies DebugReputations
}

/** [address, entryPoint] */
export function decodeEntityAt([address, entryPoint]: Params, context: DecodeContext) {
  return {
    address: decodeAddress(address, 'params[0]'),
    entryPoint: decodeEntryPoint(entryPoint, 'params[1]', context),
  } satisfies EntityParams
}

const most = { min: 0, max: Number.MAX_SAFE_INTEGER }

function decodeReputation(value: unknown, field: string): EntityReputation {
  const object = decodeObject(value, field)
  const count = (name: string) => decodeInteger(member(object, name), `${field}.${name}`, most)
  return {
    address: decodeAddress(member(object, 'address'), `${field}.address`),
    opsSeen: count('opsSeen'),
    opsIncluded: count('opsIncluded'),
  }
}

function decodeList<T>(list: unknown, decode: (each: unknown, field: string) => T): T[] {
  if (!Array.isArray(list)) throw new InvalidParamsError('params[0]', 'must be a list.')
  return list.map((each, index) => decode(each, `params[0][${index}]`))
}
