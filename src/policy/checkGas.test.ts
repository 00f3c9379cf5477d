import { expect, test } from 'vitest'
import { checkGas, type RequestedGas } from './checkGas.js'

const estimated = {
  callGasLimit: 20_000n,
  verificationGasLimit: 100_000n,
  preVerificationGas: 44_000n,
  paymasterVerificationGasLimit: 30_000n,
}

function check(gas: Partial<RequestedGas>, maxVerificationGas = 5_000_000n) {
  const requested = { ...estimated, bundleGas: 300_000n, ...gas }
  return checkGas(requested, estimated, { maxVerificationGas, maxBundleGas: 16_777_216n })
}

test('limits with the margins of clients pass', () => {
  const limits = {
    callGasLimit: 230_000n,
    verificationGasLimit: 350_000n,
    preVerificationGas: 55_000n,
    paymasterVerificationGasLimit: 245_000n,
  }
  expect(check({ ...limits, bundleGas: 16_777_216n })).toBeUndefined()
})

test.each([
  ['callGasLimit', { callGasLimit: 230_001n }, /230001.* 230000/],
  ['verificationGasLimit', { verificationGasLimit: 350_001n }, /350001.* 350000/],
  ['paymasterVerificationGasLimit', { paymasterVerificationGasLimit: 245_001n }, /245001.* 245000/],
  ['preVerificationGas', { preVerificationGas: 55_001n }, /55001.* 55000/],
  ['all limits', { bundleGas: 16_777_217n }, /16777217.* 16777216/],
])('one gas too much in %s is refused with the numbers', (_, gas, numbers) => {
  expect(check(gas)?.code).toBe('GAS_TOO_HIGH')
  expect(check(gas)?.message).toMatch(numbers)
})

test('the bound of the chain holds for what is within the estimate', () => {
  expect(check({}, 99_999n)?.message).toMatch(/verificationGasLimit is 100000; .* 99999/)
})
