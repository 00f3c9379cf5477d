import { getAddress, numberToHex } from 'viem/utils'
import { z } from 'zod'
import { MethodNotFoundError } from '../../base/errors/requestErrors.js'
import type { DebugBundler } from '../../bundler/createDebugBundler.js'
import { entryPoint } from '../dialects/decode/entryPoint.js'
import { decodeOperation, operation } from '../dialects/decode/operation.js'
import {
  address,
  type Decoded,
  type Inputs,
  integer,
  listOf,
  objectOf,
  oneOf,
} from '../dialects/decode/values.js'
import { encodeOperation } from '../dialects/operationFields.js'
import {
  address as addressOut,
  decimal,
  hexQuantity,
  operation as operationOut,
} from '../openRpc/parts.js'
import {
  EXAMPLE_ENTRY_POINT,
  EXAMPLE_TANK,
  exampleOperation,
  exampleOperationJson,
} from './examples.js'
import { type MethodSpec, method } from './method.js'

/** A method of the debug side. It throws MethodNotFoundError where the operator allows none. */
function debugMethod<
  const Name extends string,
  Result,
  Given extends Inputs = Record<never, never>,
  Params = Decoded<Given>,
>({
  run,
  ...spec
}: Omit<MethodSpec<Name, Given, Params, Result>, 'scope' | 'run'> & {
  readonly run: (debug: DebugBundler, params: Params, appId: string) => Promise<Result>
}) {
  return method<Name, Result, Given, Params>({
    ...spec,
    scope: 'debug',
    run: async (params, { chain: { debug }, appId }) => {
      if (debug === undefined) throw new MethodNotFoundError('debug_bundler_*')
      return run(debug, params, appId)
    },
  })
}

/** The answer of a method that does something. */
const done = { result: z.literal('ok'), encode: () => 'ok' } as const
const command = { ...done, example: { params: [], outcome: undefined } } as const

/** ERC-7769 writes the status as a word; the public compliance suite and other bundlers as a number. */
const statusNumber = { ok: 0, throttled: 1, banned: 2 } as const

/** The methods of ERC-7769 by which a test drives the bundler. */
export const debugBundler = [
  debugMethod({
    name: 'debug_bundler_clearState',
    summary: 'Clears the pool and all reputations.',
    ...command,
    run: async (debug) => {
      await debug.clearMempool()
      await debug.clearReputation()
    },
  }),
  debugMethod({
    name: 'debug_bundler_clearMempool',
    summary: 'Drops every operation of the pool.',
    ...command,
    run: (debug) => debug.clearMempool(),
  }),
  debugMethod({
    name: 'debug_bundler_clearReputation',
    summary: 'Forgets all reputations.',
    ...command,
    run: (debug) => debug.clearReputation(),
  }),
  debugMethod({
    name: 'debug_bundler_dumpMempool',
    summary: 'The operations of the pool, oldest first.',
    params: { entryPoint },
    run: async (debug, { entryPoint }) => ({
      version: entryPoint.version,
      operations: await debug.dumpMempool(entryPoint),
    }),
    result: z.array(operationOut),
    encode: ({ operations, version }) =>
      operations.map((operation) => encodeOperation(operation, version)),
    example: {
      params: [EXAMPLE_ENTRY_POINT],
      outcome: { version: '0.7', operations: [exampleOperation] },
    },
  }),
  debugMethod({
    name: 'debug_bundler_addUserOps',
    summary: 'Adds operations to the pool without checks.',
    params: { operations: listOf(operation), entryPoint },
    decode: ({ operations, entryPoint }) => ({
      entryPoint,
      operations: operations.map((operation, index) =>
        decodeOperation(operation, `params[0][${index}]`, entryPoint.version),
      ),
    }),
    run: (debug, { entryPoint, operations }, appId) =>
      debug.addOperations(entryPoint, operations, appId),
    ...done,
    example: { params: [[exampleOperationJson], EXAMPLE_ENTRY_POINT], outcome: undefined },
  }),
  debugMethod({
    name: 'debug_bundler_sendBundleNow',
    summary: 'Sends one bundle, and answers when it is mined.',
    ...command,
    run: (debug) => debug.sendBundleNow(),
  }),
  debugMethod({
    name: 'debug_bundler_setBundlingMode',
    summary: 'Bundles automatically (auto), or by debug_bundler_sendBundleNow only (manual).',
    params: { mode: oneOf('manual', 'auto') },
    run: async (debug, { mode }) => debug.setBundlingMode(mode),
    ...done,
    example: { params: ['manual'], outcome: undefined },
  }),
  debugMethod({
    name: 'debug_bundler_setReputation',
    summary: 'Sets the counts of entities.',
    params: {
      entities: listOf(objectOf({ address, opsSeen: integer, opsIncluded: integer })),
      entryPoint,
    },
    run: (debug, { entryPoint, entities }) => debug.setReputation(entryPoint, entities),
    ...done,
    example: {
      params: [[{ address: EXAMPLE_TANK, opsSeen: '0x64', opsIncluded: 90 }], EXAMPLE_ENTRY_POINT],
      outcome: undefined,
    },
  }),
  debugMethod({
    name: 'debug_bundler_dumpReputation',
    summary: 'The counts and the status of all entities.',
    params: { entryPoint },
    run: (debug, { entryPoint }) => debug.dumpReputation(entryPoint),
    result: z.array(
      z.object({
        address: addressOut,
        opsSeen: hexQuantity,
        opsIncluded: hexQuantity,
        status: z.enum(['0x0', '0x1', '0x2']),
      }),
    ),
    encode: (entities) =>
      entities.map(({ address, opsSeen, opsIncluded, status }) => ({
        address: getAddress(address),
        opsSeen: numberToHex(opsSeen),
        opsIncluded: numberToHex(opsIncluded),
        status: numberToHex(statusNumber[status]),
      })),
    example: {
      params: [EXAMPLE_ENTRY_POINT],
      outcome: [{ address: EXAMPLE_TANK, opsSeen: 100, opsIncluded: 0, status: 'throttled' }],
    },
  }),
  debugMethod({
    name: 'debug_bundler_getStakeStatus',
    summary: 'The stake of an address, and whether it is enough.',
    params: { address, entryPoint },
    run: (debug, { entryPoint, address }) => debug.stakeStatus(entryPoint, address),
    result: z.object({
      stakeInfo: z.object({ addr: addressOut, stake: decimal, unstakeDelaySec: decimal }),
      isStaked: z.boolean(),
    }),
    encode: ({ address, stake, unstakeDelay, isStaked }) => ({
      stakeInfo: {
        addr: getAddress(address),
        stake: stake.toString(),
        unstakeDelaySec: unstakeDelay.toString(),
      },
      isStaked,
    }),
    example: {
      params: [EXAMPLE_TANK, EXAMPLE_ENTRY_POINT],
      outcome: { address: EXAMPLE_TANK, stake: 10n ** 18n, unstakeDelay: 86_400n, isStaked: true },
    },
  }),
] as const
