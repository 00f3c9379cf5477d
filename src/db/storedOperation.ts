import type { Operation } from '../erc4337/operation.js'
import { fromJson, toJson } from './json.js'

/** What most operations have: such members are not stored. JSON leaves out those that are undefined by itself. */
const defaults = {
  factory: undefined,
  factoryData: '0x',
  paymaster: undefined,
  paymasterVerificationGasLimit: 0n,
  paymasterPostOpGasLimit: 0n,
  paymasterData: '0x',
  authorization: undefined,
} as const satisfies Partial<Operation>

/** The JSON of a row's jsonb column. */
export function operationDocument(operation: Operation): string {
  const members = Object.entries(operation)
  const isStored = ([name, value]: readonly [string, unknown]) =>
    !(name in defaults && value === defaults[name as keyof typeof defaults])
  return toJson(Object.fromEntries(members.filter(isStored)))
}

/** The operation of a row's jsonb column. */
export function storedOperation(column: unknown): Operation {
  return { ...defaults, ...(fromJson(column) as Operation) }
}
