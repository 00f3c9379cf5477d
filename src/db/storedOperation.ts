import type { Operation } from '../erc4337/operation.js'
import { fromJson } from './json.js'

/** Members that JSON leaves out when they are undefined. */
const optionalMembers = { factory: undefined, paymaster: undefined, authorization: undefined }

/** The operation of a row's jsonb column. */
export function storedOperation(column: unknown): Operation {
  return { ...optionalMembers, ...(fromJson(column) as Operation) }
}
