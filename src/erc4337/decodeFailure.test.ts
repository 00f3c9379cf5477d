import fc from 'fast-check'
import { type Abi, encodeAbiParameters, encodeErrorResult, type Hex, parseAbi } from 'viem'
import { entryPoint06Abi, entryPoint07Abi, entryPoint09Abi } from 'viem/account-abstraction'
import { describe, expect, it } from 'vitest'
import { arbitraryBytes } from '../../test/support/operations/arbitraryOperation.js'
import { decodeFailure } from './decodeFailure.js'

const solidity = parseAbi([
  'error Error(string)',
  'error Panic(uint256)',
  'error InsufficientBalance(uint256 available, uint256 required)',
  'error ECDSAInvalidSignature()',
  'error Surprise(uint256)',
])

function encode(abi: Abi, errorName: string, ...args: unknown[]): Hex {
  return encodeErrorResult({ abi, errorName, args })
}

function withRevert(inner: Hex, text = 'AA23 reverted'): Hex {
  return encode(entryPoint07Abi, 'FailedOpWithRevert', 3n, text, inner)
}

describe('decodeFailure', () => {
  it('keeps the text of FailedOp with its code and place', () => {
    const revertData = encode(entryPoint06Abi, 'FailedOp', 2n, 'AA23 reverted: Not owner')
    expect(decodeFailure(revertData)).toEqual({
      index: 2,
      code: 'AA23',
      message: 'AA23 reverted: Not owner',
      revertData,
    })
  })

  it('reads what any FailedOp says', () => {
    const text = fc.string({ unit: fc.constantFrom(...'AA0123456789 reverted:é✓') })
    fc.assert(
      fc.property(fc.nat(), text, (index, message) => {
        const revertData = encode(entryPoint06Abi, 'FailedOp', BigInt(index), message)
        expect(decodeFailure(revertData)).toMatchObject({ index, message })
      }),
    )
  })

  it.each([
    ['Error(string)', encode(solidity, 'Error', 'Not owner'), 'AA23 reverted: Not owner'],
    [
      'a panic',
      encode(solidity, 'Panic', 0x11n),
      'AA23 reverted: Panic(0x11): arithmetic overflow',
    ],
    ['an unknown panic', encode(solidity, 'Panic', 0x99n), 'AA23 reverted: Panic(0x99)'],
    [
      'a known custom error',
      encode(solidity, 'InsufficientBalance', 5n, 7n),
      'AA23 reverted: InsufficientBalance(5, 7)',
    ],
    [
      'a custom error without arguments',
      encode(solidity, 'ECDSAInvalidSignature'),
      'AA23 reverted: ECDSAInvalidSignature()',
    ],
    [
      'an unknown custom error',
      encode(solidity, 'Surprise', 1n),
      'AA23 reverted: custom error 0xe6fa1ff5',
    ],
    ['a known selector cut short', '0xcf479181' as Hex, 'AA23 reverted: custom error 0xcf479181'],
    ['nothing', '0x' as Hex, 'AA23 reverted'],
    ['less than a selector', '0xabcd' as Hex, 'AA23 reverted'],
  ])('explains FailedOpWithRevert with %s', (_, inner, message) => {
    const revertData = withRevert(inner)
    expect(decodeFailure(revertData)).toEqual({ index: 3, code: 'AA23', message, revertData })
  })

  it('takes the code from the EntryPoint, not from what the paymaster says', () => {
    const inner = encode(solidity, 'Error', 'AA25 invalid account nonce')
    expect(decodeFailure(withRevert(inner, 'AA33 reverted'))).toMatchObject({
      code: 'AA33',
      message: 'AA33 reverted: AA25 invalid account nonce',
    })
  })

  it.each(['AA90 invalid beneficiary', 'AA94 gas values overflow'])(
    'blames no operation for %s',
    (text) => {
      const revertData = encode(solidity, 'Error', text)
      expect(decodeFailure(revertData)).toEqual({
        index: undefined,
        code: text.slice(0, 4),
        message: text,
        revertData,
      })
    },
  )

  it.each([
    [
      'v0.6 guard',
      encode(solidity, 'Error', 'ReentrancyGuard: reentrant call'),
      'ReentrancyGuard: reentrant call',
    ],
    [
      'v0.7 guard',
      encode(entryPoint07Abi, 'ReentrancyGuardReentrantCall'),
      'ReentrancyGuardReentrantCall()',
    ],
    [
      'v0.8 EIP-7702',
      encode(solidity, 'Error', 'not an EIP-7702 delegate'),
      'not an EIP-7702 delegate',
    ],
    ['v0.9 guard', encode(entryPoint09Abi, 'Reentrancy'), 'Reentrancy()'],
    [
      'v0.9 beneficiary',
      encode(entryPoint09Abi, 'InvalidBeneficiary', `0x${'0'.repeat(40)}`),
      `InvalidBeneficiary(0x${'0'.repeat(40)})`,
    ],
    [
      'v0.9 compensation',
      encode(entryPoint09Abi, 'FailedSendToBeneficiary', `0x${'a'.repeat(40)}`, 9n, '0x1234'),
      `FailedSendToBeneficiary(0x${'a'.repeat(40)}, 9, 0x1234)`,
    ],
    [
      'v0.9 paymaster data',
      encode(entryPoint09Abi, 'InvalidPaymasterData', 51n),
      'InvalidPaymasterData(51)',
    ],
  ])('names an error without code: %s', (_, revertData, message) => {
    expect(decodeFailure(revertData)).toEqual({
      index: undefined,
      code: undefined,
      message,
      revertData,
    })
  })

  it('knows every error by the selector that the ABI of v0.9 gives it', () => {
    const names = [
      'Eip7702SenderNotDelegate',
      'Eip7702SenderWithoutCode',
      'InvalidPaymaster',
      'SignatureValidationFailed',
    ]
    const account = `0x${'b'.repeat(40)}`
    for (const name of names) {
      expect(decodeFailure(encode(entryPoint09Abi, name, account))?.message).toBe(
        `${name}(${account})`,
      )
    }
    expect(decodeFailure(encode(entryPoint09Abi, 'InternalFunction'))?.message).toBe(
      'InternalFunction()',
    )
    expect(
      decodeFailure(encode(entryPoint09Abi, 'InvalidPaymasterSignatureLength', 1n, 2n))?.message,
    ).toBe('InvalidPaymasterSignatureLength(1, 2)')
  })

  it('is undefined for what no EntryPoint says', () => {
    expect(decodeFailure('0x')).toBeUndefined()
    expect(decodeFailure('0x220266b6')).toBeUndefined()
    expect(decodeFailure(encode(solidity, 'Error', 'Not owner'))).toBeUndefined()
    expect(decodeFailure(encode(solidity, 'InsufficientBalance', 5n, 7n))).toBeUndefined()
    const args = encodeAbiParameters([{ type: 'uint256' }, { type: 'string' }], [2n ** 60n, 'AA23'])
    expect(decodeFailure(`0x220266b6${args.slice(2)}`)).toBeUndefined()
  })

  it('lets no control character out and no more than 1,000 characters', () => {
    const hostile = 'AA23 reverted: \u0000\u001b[31mred\u001b[0m\r\n\u202eback\u2028\u200b'
    const plain = encode(entryPoint06Abi, 'FailedOp', 0n, hostile)
    expect(decodeFailure(plain)?.message).toBe('AA23 reverted: [31mred[0mback')
    const long = '𝔸'.repeat(5_000)
    for (const revertData of [
      encode(entryPoint06Abi, 'FailedOp', 0n, long),
      withRevert(encode(solidity, 'Error', long)),
      withRevert('0x', long),
    ]) {
      const message = decodeFailure(revertData)!.message
      expect(Array.from(message)).toHaveLength(1_000)
      expect(message.endsWith('𝔸')).toBe(true)
    }
  })

  it('never throws, whatever follows a known selector', () => {
    const selectors = ['0x', '0x220266b6', '0x65c8fd4d', '0x08c379a0', '0x4e487b71', '0x40848e61']
    const safe = /^[^\p{C}\p{Zl}\p{Zp}]{0,1000}$/u
    fc.assert(
      fc.property(
        fc.constantFrom(...selectors),
        fc.constantFrom(...selectors),
        arbitraryBytes(400),
        (outer, inner, rest) => {
          const raw: Hex = `0x${outer.slice(2)}${rest.slice(2)}`
          const nested = withRevert(`0x${inner.slice(2)}${rest.slice(2)}`)
          expect(decodeFailure(raw)?.message ?? '').toMatch(safe)
          expect(decodeFailure(nested)?.message ?? 'missing').toMatch(safe)
          expect(decodeFailure(nested)?.code).toBe('AA23')
        },
      ),
      { numRuns: 5_000 },
    )
  })
})
