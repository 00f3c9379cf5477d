import type { EntryPoint } from '../../../entrypoint/entryPoint.js'
import { InvalidParamsError, UnsupportedEntryPointError } from '../../../errors/requestErrors.js'
import type {
  EstimateParams,
  HashParams,
  MethodName,
  Params,
  SendParams,
  SponsoredMode,
  TokenMode,
} from '../../rpc/signatures.js'
import type { ChainServices } from '../../services.js'
import { decodeAddress, decodeHash } from './bytes.js'
import { decodeObject, member } from './members.js'
import { decodeContext, decodeMode, type Mode } from './mode.js'
import { decodeDraft, decodeOperation, decodePartialOperation, isUnpacked } from './operation.js'
import { decodeInteger } from './quantity.js'
import { decodeStateOverride } from './stateOverride.js'

/** What decoding needs to know of the chain. */
export type DecodeContext = Pick<ChainServices, 'chainId' | 'entryPoints'>

type Decode<T> = (params: readonly unknown[], context: DecodeContext) => T

const none: Decode<null> = () => null

const hash: Decode<HashParams> = ([value]) => ({ hash: decodeHash(value, 'params[0]') })

const estimate: Decode<EstimateParams> = ([operation, address, override], context) => {
  const entryPoint = decodeEntryPoint(address, context)
  return {
    entryPoint,
    draft: decodeDraft(operation, 'params[0]', entryPoint.version),
    stateOverride:
      override === undefined || override === null
        ? undefined
        : decodeStateOverride(override, 'params[2]'),
  }
}

const send: Decode<SendParams> = ([operation, address, options], context) => {
  const entryPoint = decodeEntryPoint(address, context)
  return {
    entryPoint,
    operation: decodeOperation(operation, 'params[0]', entryPoint.version),
    simulateExecution: decodeSimulationType(options, 'params[2]') === 'validation_and_execution',
  }
}

const sponsor: Decode<SponsoredMode | TokenMode> = ([operation, mode], context) =>
  withOperation(decodeMode(mode, 'params[1]'), operation, inferEntryPoint(operation, context))

const quote: Decode<SponsoredMode | TokenMode> = ([operation, mode], context) =>
  withOperation(decodeContext(mode, 'params[1]'), operation, inferEntryPoint(operation, context))

/** ERC-7677: [operation, entryPoint, chainId, context]. */
const paymasterData: Decode<SponsoredMode | TokenMode> = (
  [operation, address, chainId, mode],
  context,
) => {
  const asked = decodeInteger(chainId, 'params[2]', { min: 0, max: Number.MAX_SAFE_INTEGER })
  if (asked !== context.chainId)
    throw new InvalidParamsError(
      'params[2]',
      `is chain ${asked}, this URL serves chain ${context.chainId}.`,
    )
  return withOperation(
    decodeContext(mode, 'params[3]'),
    operation,
    decodeEntryPoint(address, context),
  )
}

/**
 * Both dialects decode alike: every form that any client sends is taken everywhere, so decoding is
 * one table, and only answers differ.
 */
export const decoders: { readonly [N in MethodName]: Decode<Params<N>> } = {
  eth_chainId: none,
  eth_supportedEntryPoints: none,
  web3_clientVersion: none,
  eth_estimateUserOperationGas: estimate,
  eth_sendUserOperation: send,
  eth_getUserOperationReceipt: hash,
  eth_getUserOperationByHash: hash,
  biconomy_getGasFeeValues: none,
  biconomy_getUserOperationStatus: hash,
  pm_sponsorUserOperation: sponsor,
  pm_getFeeQuoteOrData: quote,
  pm_getPaymasterStubData: paymasterData,
  pm_getPaymasterData: paymasterData,
}

const withOperation = (
  mode: Mode,
  operation: unknown,
  entryPoint: EntryPoint,
): SponsoredMode | TokenMode => {
  const draft = decodePartialOperation(operation, 'params[0]', entryPoint.version)
  return mode.mode === 'ERC20' ? mode : { ...mode, entryPoint, draft }
}

const decodeEntryPoint = (value: unknown, { entryPoints }: DecodeContext): EntryPoint => {
  const address = decodeAddress(value, 'params[1]')
  const entryPoint = entryPoints.get(address)
  if (entryPoint === undefined)
    throw new UnsupportedEntryPointError(address, [...entryPoints.keys()])
  return entryPoint
}

/**
 * pm_sponsorUserOperation names no EntryPoint, so the shape of the operation tells: separate
 * fields of factory or paymaster mean v0.7 or later, the first such one that the chain has.
 */
const inferEntryPoint = (operation: unknown, { entryPoints }: DecodeContext): EntryPoint => {
  const all = [...entryPoints.values()]
  const unpacked = isUnpacked(operation)
  const found = all.find(({ version }) => (version === '0.6') !== unpacked) ?? all[0]
  if (found === undefined) throw new UnsupportedEntryPointError('none', [])
  return found
}

const decodeSimulationType = (value: unknown, field: string): string => {
  if (value === undefined || value === null) return 'validation'
  const type = member(decodeObject(value, field), 'simulation_type') ?? 'validation'
  if (type !== 'validation' && type !== 'validation_and_execution')
    throw new InvalidParamsError(
      `${field}.simulation_type`,
      'must be "validation" or "validation_and_execution".',
    )
  return type
}
