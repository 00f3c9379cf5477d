import type { EntryPoint } from '../../../entrypoint/entryPoint.js'
import { InvalidParamsError, UnsupportedEntryPointError } from '../../../errors/requestErrors.js'
import type { SigningPhase } from '../../../paymaster/sponsorship.js'
import type {
  EstimateParams,
  HashParams,
  MethodName,
  MethodParams,
  SendParams,
  SponsoredMode,
  TokenModeParams,
} from '../../rpc/signatures.js'
import { decodeHash } from './bytes.js'
import {
  decodeBundlingMode,
  decodeEntityAt,
  decodeOperations,
  decodeReputations,
} from './debugParams.js'
import { type DecodeContext, decodeEntryPoint } from './entryPoint.js'
import { decodeObject, member } from './members.js'
import { decodeContext, decodeMode, decodeQuoteContext, type Mode } from './mode.js'
import {
  decodeCommitted,
  decodeDraft,
  decodeOperation,
  decodePartialOperation,
  isUnpacked,
} from './operation.js'
import { decodeInteger } from './quantity.js'
import { decodeStateOverride } from './stateOverride.js'

type Decode<T> = (params: readonly unknown[], context: DecodeContext) => T

const none: Decode<null> = () => null

const hash: Decode<HashParams> = ([value]) => ({ hash: decodeHash(value, 'params[0]') })

const entryPointOnly: Decode<{ entryPoint: EntryPoint }> = ([address], context) => ({
  entryPoint: decodeEntryPoint(address, 'params[0]', context),
})

const estimate: Decode<EstimateParams> = ([operation, address, override], context) => {
  const entryPoint = decodeEntryPoint(address, 'params[1]', context)
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
  const entryPoint = decodeEntryPoint(address, 'params[1]', context)
  return {
    entryPoint,
    operation: decodeOperation(operation, 'params[0]', entryPoint.version),
    simulateExecution: decodeSimulationType(options, 'params[2]') === 'validation_and_execution',
  }
}

/**
 * [operation, mode], or [operation, entryPoint, context] as the clients of other services have it,
 * who can so name one of several EntryPoints. They know no result that is a refusal.
 */
const sponsor: Decode<SponsoredMode | TokenModeParams> = ([operation, second, third], context) =>
  isHex(second)
    ? withOperation(
        decodeContext(third, 'params[2]'),
        operation,
        decodeEntryPoint(second, 'params[1]', context),
        'error',
      )
    : withOperation(
        decodeMode(second, 'params[1]'),
        operation,
        inferEntryPoint(operation, context),
        'result',
      )

const quote: Decode<SponsoredMode | TokenModeParams> = ([operation, mode], context) =>
  withOperation(
    decodeQuoteContext(mode, 'params[1]'),
    operation,
    inferEntryPoint(operation, context),
    'result',
  )

/** ERC-7677: [operation, entryPoint, chainId, context]. The account may sign first in `phase` only. */
function paymasterData(phase: SigningPhase): Decode<SponsoredMode | TokenModeParams> {
  return ([operation, address, chainId, paymasterContext], context) => {
    const asked = decodeInteger(chainId, 'params[2]', { min: 0, max: Number.MAX_SAFE_INTEGER })
    if (asked !== context.chainId)
      throw new InvalidParamsError(
        'params[2]',
        `is chain ${asked}, this URL serves chain ${context.chainId}.`,
      )
    const mode = decodeContext(paymasterContext, 'params[3]')
    const entryPoint = decodeEntryPoint(address, 'params[1]', context)
    if (mode.mode === 'SPONSORED' && mode.signingPhase !== undefined)
      requirePhase(mode.signingPhase, phase, entryPoint)
    return withOperation(mode, operation, entryPoint, 'error')
  }
}

function requirePhase(asked: SigningPhase, phase: SigningPhase, entryPoint: EntryPoint): void {
  if (asked !== phase)
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

/**
 * Both dialects decode alike: every form that any client sends is taken everywhere, so decoding is
 * one table, and only answers differ.
 */
export const decoders: { readonly [N in MethodName]: Decode<MethodParams<N>> } = {
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
  pm_getPaymasterStubData: paymasterData('commit'),
  pm_getPaymasterData: paymasterData('finalize'),
  debug_bundler_clearState: none,
  debug_bundler_clearMempool: none,
  debug_bundler_clearReputation: none,
  debug_bundler_dumpMempool: entryPointOnly,
  debug_bundler_addUserOps: decodeOperations,
  debug_bundler_sendBundleNow: none,
  debug_bundler_setBundlingMode: decodeBundlingMode,
  debug_bundler_setReputation: decodeReputations,
  debug_bundler_dumpReputation: entryPointOnly,
  debug_bundler_getStakeStatus: decodeEntityAt,
  pm_validateSponsorshipPolicies: paymasterData('finalize'),
}

function withOperation(
  mode: Mode,
  operation: unknown,
  entryPoint: EntryPoint,
  refusal: SponsoredMode['refusal'],
): SponsoredMode | TokenModeParams {
  const { version } = entryPoint
  if (mode.mode === 'ERC20')
    return { ...mode, entryPoint, draft: decodePartialOperation(operation, 'params[0]', version) }
  const decode = mode.signingPhase === 'finalize' ? decodeCommitted : decodePartialOperation
  return { ...mode, entryPoint, refusal, draft: decode(operation, 'params[0]', version) }
}

function isHex(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('0x')
}
/**
 * pm_sponsorUserOperation names no EntryPoint, so the shape of the operation tells: separate
 * fields of factory or paymaster mean v0.7 or later, the first such one that the chain has.
 */
function inferEntryPoint(operation: unknown, { entryPoints }: DecodeContext): EntryPoint {
  const all = [...entryPoints.values()]
  const unpacked = isUnpacked(operation)
  const found = all.find(({ packsEntities }) => packsEntities !== unpacked) ?? all[0]
  if (found === undefined) throw new UnsupportedEntryPointError('none', [])
  return found
}

function decodeSimulationType(value: unknown, field: string): string {
  if (value === undefined || value === null) return 'validation'
  const type = member(decodeObject(value, field), 'simulation_type') ?? 'validation'
  if (type !== 'validation' && type !== 'validation_and_execution')
    throw new InvalidParamsError(
      `${field}.simulation_type`,
      'must be "validation" or "validation_and_execution".',
    )
  return type
}
