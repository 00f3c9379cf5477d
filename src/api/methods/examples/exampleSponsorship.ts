import { numberToHex } from 'viem/utils'
import type { VersionedSponsorship } from '../../dialects/paymasterAnswer.js'
import { EXAMPLE_TANK, exampleDecision, exampleSponsored } from './examples.js'

const { paymasterData } = exampleSponsored

/** The example's operation, sponsored by a tank. */
export const exampleSponsorship: VersionedSponsorship = {
  mode: 'SPONSORED',
  version: '0.7',
  separateSignature: false,
  decision: exampleDecision,
  operation: exampleSponsored,
  paymasterAndData: `${EXAMPLE_TANK}${'0'.repeat(28)}7530${'0'.repeat(32)}${paymasterData.slice(2)}`,
}

const { paymasterAndData } = exampleSponsorship

export const exampleClassicSponsorship = {
  mode: 'SPONSORED',
  MODE: 'SPONSORED',
  sponsorship: exampleDecision,
  paymasterAndData,
  paymaster: EXAMPLE_TANK,
  paymasterData,
  paymasterVerificationGasLimit: 30_000,
  paymasterPostOpGasLimit: 1,
  preVerificationGas: '48000',
  verificationGasLimit: 60_000,
  callGasLimit: 36_000,
  maxFeePerGas: String(exampleSponsored.maxFeePerGas),
  maxPriorityFeePerGas: String(exampleSponsored.maxPriorityFeePerGas),
}

export const exampleStandardSponsorship = {
  mode: 'SPONSORED',
  MODE: 'SPONSORED',
  sponsorship: exampleDecision,
  paymasterAndData,
  paymaster: EXAMPLE_TANK,
  paymasterData,
  paymasterVerificationGasLimit: '0x7530',
  paymasterPostOpGasLimit: '0x1',
  preVerificationGas: '0xbb80',
  verificationGasLimit: '0xea60',
  callGasLimit: '0x8ca0',
  maxFeePerGas: numberToHex(exampleSponsored.maxFeePerGas),
  maxPriorityFeePerGas: numberToHex(exampleSponsored.maxPriorityFeePerGas),
}
