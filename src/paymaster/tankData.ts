import { type Address, concatHex, type Hex, hashTypedData, numberToHex } from 'viem'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'

/** When a sponsorship holds, Unix seconds; validUntil 0 = without end. */
export type TimeRange = { readonly validAfter: number; readonly validUntil: number }

/** paymasterData of a tank: validUntil(6) | validAfter(6) | signature(65). */
export const encodeTankData = ({ validAfter, validUntil }: TimeRange, signature: Hex): Hex =>
  concatHex([numberToHex(validUntil, { size: 6 }), numberToHex(validAfter, { size: 6 }), signature])

/**
 * A signature of nobody to estimate with: an address can be recovered from it, so checking it costs
 * the gas of a real one, and no byte is zero, so its calldata costs at least as much.
 */
export const stubSignature: Hex = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`

/** What the tank's signer signs (Tank06.getHash), as it is, to pay for `op` within `range`. */
export const sponsorshipHash = (
  op: Operation & { readonly paymaster: Address },
  entryPoint: EntryPoint,
  chainId: number,
  range: TimeRange,
): Hex =>
  hashTypedData({
    domain: { name: 'Purser Tank', version: '1', chainId, verifyingContract: op.paymaster },
    types: sponsorshipV06,
    primaryType: 'Sponsorship',
    message: {
      ...op,
      entryPoint: entryPoint.address,
      initCode: op.factory === undefined ? '0x' : concatHex([op.factory, op.factoryData]),
      ...range,
    },
  })

const sponsorshipV06 = {
  Sponsorship: [
    { name: 'entryPoint', type: 'address' },
    { name: 'sender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'initCode', type: 'bytes' },
    { name: 'callData', type: 'bytes' },
    { name: 'callGasLimit', type: 'uint256' },
    { name: 'verificationGasLimit', type: 'uint256' },
    { name: 'preVerificationGas', type: 'uint256' },
    { name: 'maxFeePerGas', type: 'uint256' },
    { name: 'maxPriorityFeePerGas', type: 'uint256' },
    { name: 'validUntil', type: 'uint48' },
    { name: 'validAfter', type: 'uint48' },
  ],
} as const
