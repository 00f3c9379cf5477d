import { getAddress, numberToHex } from 'viem/utils'
import { versionFacts } from '../../../entrypoint/versionFacts.js'
import type { GasEstimate } from '../../../gas/gasEstimate.js'
import type { PaymasterAnswer, VersionedOperation } from '../../rpc/signatures.js'
import { debugEncoders } from '../debugFields.js'
import type { Dialect } from '../dialect.js'
import { encodeFeeValues } from '../feeValues.js'
import { encodeOperation } from '../operationFields.js'
import {
  encodeAnswer,
  encodeFreeFees,
  encodePaymasterData,
  encodePreview,
  encodeQuotes,
  encodeStub,
} from '../paymasterData.js'
import { encodeBigNumber, encodeNumber } from './numbers.js'
import { encodeReceipt, encodeStatus } from './receipt.js'

/**
 * The field types of the interface's tables. An error has its own HTTP status, mostly 400, because
 * the SDKs of this dialect take any 200 for success.
 */
export const classic: Dialect = {
  name: 'classic',
  status: (error) => error.status,
  encoders: {
    eth_chainId: (chainId) => numberToHex(chainId),
    eth_supportedEntryPoints: (addresses) => addresses.map((address) => getAddress(address)),
    web3_clientVersion: (version) => version,
    eth_estimateUserOperationGas: (estimate) => encodeEstimate(estimate),
    eth_sendUserOperation: (hash) => hash,
    eth_getUserOperationReceipt: (receipt) => (receipt ? encodeReceipt(receipt) : null),
    eth_getUserOperationByHash: (found) => (found ? encodeByHash(found) : null),
    biconomy_getGasFeeValues: encodeFeeValues,
    biconomy_getUserOperationStatus: encodeStatus,
    pm_sponsorUserOperation: (result) => encodeSponsorship(result),
    pm_getFeeQuoteOrData: (result) =>
      result.mode === 'QUOTES' ? encodeQuotes(result) : encodeSponsorship(result),
    pm_getPaymasterStubData: encodeStub,
    pm_getPaymasterData: encodePaymasterData,
    ...debugEncoders,
    pm_validateSponsorshipPolicies: encodePreview,
  },
}

/** Every member is there: clients of this dialect fail on any that is null. */
function encodeEstimate(estimate: GasEstimate) {
  return {
    callGasLimit: encodeNumber(estimate.callGasLimit),
    verificationGasLimit: encodeNumber(estimate.verificationGasLimit),
    preVerificationGas: encodeNumber(estimate.preVerificationGas),
    ...(estimate.paymasterVerificationGasLimit !== undefined && {
      paymasterVerificationGasLimit: encodeNumber(estimate.paymasterVerificationGasLimit),
    }),
    ...(estimate.paymasterPostOpGasLimit !== undefined && {
      paymasterPostOpGasLimit: encodeNumber(estimate.paymasterPostOpGasLimit),
    }),
    validUntil: encodeBigNumber(BigInt(estimate.validUntil)),
    validAfter: encodeBigNumber(BigInt(estimate.validAfter)),
    maxPriorityFeePerGas: estimate.maxPriorityFeePerGas.toString(),
    maxFeePerGas: estimate.maxFeePerGas.toString(),
  }
}

/** The operation's fields stand flat, as the SDKs declare them, and nested, as the ERC has them. */
function encodeByHash(found: VersionedOperation) {
  const operation = encodeOperation(found.operation, found.version)
  return {
    ...operation,
    userOperation: operation,
    entryPoint: found.entryPoint,
    blockNumber: found.blockNumber === undefined ? null : encodeNumber(found.blockNumber),
    blockHash: found.blockHash ?? null,
    transactionHash: found.transactionHash ?? null,
  }
}

function encodeSponsorship(result: PaymasterAnswer) {
  return {
    ...encodeAnswer(result),
    paymasterAndData: result.paymasterAndData,
    ...encodePaymasterFields(result),
    preVerificationGas: result.operation.preVerificationGas.toString(),
    verificationGasLimit: encodeNumber(result.operation.verificationGasLimit),
    callGasLimit: encodeNumber(result.operation.callGasLimit),
    ...encodeFreeFees(result),
  }
}

/** For clients of v0.7 and later, whose operations have no paymasterAndData. */
function encodePaymasterFields({ version, operation }: PaymasterAnswer) {
  return (
    !versionFacts[version].packsEntities &&
    operation.paymaster !== undefined && {
      paymaster: operation.paymaster,
      paymasterData: operation.paymasterData,
      paymasterVerificationGasLimit: encodeNumber(operation.paymasterVerificationGasLimit),
      paymasterPostOpGasLimit: encodeNumber(operation.paymasterPostOpGasLimit),
    }
  )
}
