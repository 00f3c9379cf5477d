import { expect, test } from 'vitest'
import { checkGas, type RequestedGas, VERIFICATION_FLOOR } from './checkGas.js'

const estimated = {
  callGasLimit: 20_000n,
  verificationGasLimit: 100_000n,
  preVerificationGas: 44_000n,
  paymasterVerificationGasLimit: 30_000n,
}

function check(gas: Partial<RequestedGas>, maxVerificationGas = 5_000_000n, floor = 0n) {
  const requested = { ...estimated, bundleGas: 300_000n, ...gas }
  return checkGas(requested, estimated, { maxVerificationGas, maxBundleGas: 16_777_216n }, floor)
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

test('all limits that are too high are named at once, as those of @biconomy/account 3.1.4', () => {
  const defaults = { callGasLimit: 800_000n, preVerificationGas: 100_000n }
  expect(check(defaults)?.message).toBe(
    'callGasLimit is 800000; a sponsored operation may have 230000. ' +
      'preVerificationGas is 100000; a sponsored operation may have 55000. ' +
      'Leave the three limits away, or send calculateGasLimits true, to get limits that fit.',
  )
})

test('the bound of the chain holds for what is within the estimate', () => {
  expect(check({}, 99_999n)?.message).toMatch(/verificationGasLimit is 100000; .* 99999/)
})

test('verification gas up to the floor passes, and the other limits keep their bounds', () => {
  const atFloor = { verificationGasLimit: VERIFICATION_FLOOR }
  expect(check(atFloor, 5_000_000n, VERIFICATION_FLOOR)).toBeUndefined()
  const above = { verificationGasLimit: VERIFICATION_FLOOR + 1n }
  expect(check(above, 5_000_000n, VERIFICATION_FLOOR)?.message).toMatch(/2000001.* 2000000/)
  for (const field of [
    'callGasLimit',
    'preVerificationGas',
    'paymasterVerificationGasLimit',
  ] as const)
    expect(check({ [field]: 250_000n }, 5_000_000n, VERIFICATION_FLOOR)?.code).toBe('GAS_TOO_HIGH')
})
