import { numberToHex } from 'viem/utils'
import type { PaymasterAnswer } from '../paymasterAnswer.js'
import { encodeAnswer, encodeSignedFees, encodeSponsor } from '../paymasterData.js'

/** A sponsorship or token payment: hex limits, the paymaster in the shape of the version. */
export function encodeStandardSponsorship(result: PaymasterAnswer) {
  return {
    ...encodeAnswer(result),
    paymasterAndData: result.paymasterAndData,
    ...encodeSponsor(result),
    preVerificationGas: numberToHex(result.operation.preVerificationGas),
    verificationGasLimit: numberToHex(result.operation.verificationGasLimit),
    callGasLimit: numberToHex(result.operation.callGasLimit),
    ...encodeSignedFees(result, numberToHex),
  }
}
