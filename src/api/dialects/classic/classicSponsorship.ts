import { versionFacts } from '../../../entrypoint/versionFacts.js'
import type { PaymasterAnswer } from '../paymasterAnswer.js'
import { encodeAnswer, encodeSignedFees } from '../paymasterData.js'
import { encodeNumber } from './numbers.js'

/** A sponsorship or token payment: decimal text and numbers, paymasterAndData for every version. */
export function encodeClassicSponsorship(result: PaymasterAnswer) {
  return {
    ...encodeAnswer(result),
    paymasterAndData: result.paymasterAndData,
    ...encodePaymasterFields(result),
    preVerificationGas: result.operation.preVerificationGas.toString(),
    verificationGasLimit: encodeNumber(result.operation.verificationGasLimit),
    callGasLimit: encodeNumber(result.operation.callGasLimit),
    ...encodeSignedFees(result, String),
  }
}

/** The fields for clients of v0.7 and later, whose operations have no paymasterAndData. */
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
