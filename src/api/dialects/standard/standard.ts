import { getAddress, numberToHex } from 'viem/utils'
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
  encodeSponsor,
  encodeStub,
} from '../paymasterData.js'
import { encodeReceipt, encodeStatus } from './receipt.js'

/** ERC-7769 and ERC-7677: hex quantities, booleans, HTTP 200 also for errors of a call. */
export const standard: Dialect = {
  name: 'standard',
  status: () => 200,
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

/** The validity bounds stay out: ERC-7769 has no such fields. */
function encodeEstimate(estimate: GasEstimate) {
  return {
    preVerificationGas: numberToHex(estimate.preVerificationGas),
    verificationGasLimit: numberToHex(estimate.verificationGasLimit),
    callGasLimit: numberToHex(estimate.callGasLimit),
    ...(estimate.paymasterVerificationGasLimit !== undefined && {
      paymasterVerificationGasLimit: numberToHex(estimate.paymasterVerificationGasLimit),
    }),
    ...(estimate.paymasterPostOpGasLimit !== undefined && {
      paymasterPostOpGasLimit: numberToHex(estimate.paymasterPostOpGasLimit),
    }),
    maxFeePerGas: numberToHex(estimate.maxFeePerGas),
    maxPriorityFeePerGas: numberToHex(estimate.maxPriorityFeePerGas),
  }
}

function encodeByHash(found: VersionedOperation) {
  return {
    userOperation: encodeOperation(found.operation, found.version),
    entryPoint: getAddress(found.entryPoint),
    blockNumber: found.blockNumber === undefined ? null : numberToHex(found.blockNumber),
    blockHash: found.blockHash ?? null,
    transactionHash: found.transactionHash ?? null,
  }
}

function encodeSponsorship(result: PaymasterAnswer) {
  return {
    ...encodeAnswer(result),
    paymasterAndData: result.paymasterAndData,
    ...encodeSponsor(result),
    preVerificationGas: numberToHex(result.operation.preVerificationGas),
    verificationGasLimit: numberToHex(result.operation.verificationGasLimit),
    callGasLimit: numberToHex(result.operation.callGasLimit),
    ...encodeFreeFees(result),
  }
}
