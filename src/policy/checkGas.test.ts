import { expect, test } from 'vitest'
import { checkGas, type RequestedGas } from './checkGas.js'

const limits = { maxVerificationGas: 5_000_000n, maxBundleGas: 16_777_216n }
function check(gas: Partial<RequestedGas>) {
  return checkGas(
    {
      verificationGasLimit: 100_000n,
      paymasterVerificationGasLimit: 30_000n,
      preVerificationGas: 45_000n,
      bundleGas: 200_000n,
      ...gas,
    },
    45_000n,
    limits,
  )
}

test('generous limits pass', () => {
  expect(
    check({
      verificationGasLimit: 5_000_000n,
      preVerificationGas: 135_000n,
      bundleGas: 16_777_216n,
    }),
  ).toBeUndefined()
})

test.each([
  ['verificationGasLimit', { verificationGasLimit: 5_000_001n }, /5000001.* 5000000/],
  ['paymasterVerificationGasLimit', { paymasterVerificationGasLimit: 5_000_001n }, /5000001/],
  ['preVerificationGas', { preVerificationGas: 135_001n }, /135001.* 135000/],
  ['all limits', { bundleGas: 16_777_217n }, /16777217.* 16777216/],
])('one gas too much in %s is refused with the numbers', (_, gas, numbers) => {
  expect(check(gas)?.code).toBe('GAS_TOO_HIGH')
  expect(check(gas)?.message).toMatch(numbers)
})
