import fc from 'fast-check'
import { concat, type Hex, hexToBytes, keccak256, numberToHex, toHex } from 'viem'
import {
  entryPoint06Address,
  entryPoint07Address,
  entryPoint08Address,
  entryPoint09Address,
  getUserOperationHash,
  type UserOperation,
} from 'viem/account-abstraction'
import { describe, expect, it } from 'vitest'
import {
  arbitraryAddress,
  arbitraryBytes,
  arbitraryDelegatedOperation,
  arbitraryOperation,
} from '../../test/support/operations/arbitraryOperation.js'
import { toStructV06 } from '../../test/support/operations/viemStructs.js'
import { randomRuns } from '../../test/support/runs.js'
import { OperationLimitError } from '../base/errors/operationErrors.js'
import { canonicalAddresses } from './canonicalAddresses.js'
import { createEntryPoint } from './createEntryPoint.js'
import { keccak } from './encoding/keccak.js'
import type { Version } from './entryPoint.js'
import type { Operation } from './operation.js'

const versions: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']
const chainId = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
const MAGIC: Hex = '0x22e325a297439656'

function sample(version: Version): Operation {
  return fc.sample(arbitraryOperation(version), { seed: 7, numRuns: 1 })[0]!
}

function viemHash(version: Version, op: Operation, entryPointAddress: Hex, chain: number): Hex {
  return getUserOperationHash({
    chainId: chain,
    entryPointAddress,
    entryPointVersion: version,
    userOperation: (version === '0.6' ? toStructV06(op) : op) as UserOperation,
  })
}

describe('canonicalAddresses', () => {
  it('are those of viem, in lower case', () => {
    expect(canonicalAddresses).toEqual({
      '0.6': entryPoint06Address.toLowerCase(),
      '0.7': entryPoint07Address.toLowerCase(),
      '0.8': entryPoint08Address.toLowerCase(),
      '0.9': entryPoint09Address.toLowerCase(),
    })
  })
})

describe('createEntryPoint', () => {
  it('takes a checksummed address and shows it in lower case', () => {
    const entryPoint = createEntryPoint('0.7', entryPoint07Address)
    expect(entryPoint).toMatchObject({ version: '0.7', address: canonicalAddresses['0.7'] })
  })
})

describe('keccak', () => {
  it('equals viem for every length around its block and scratch sizes', () => {
    const lengths = [0, 1, 31, 32, 135, 136, 137, 272, 32_767, 32_768, 32_769, 100_000]
    for (const length of lengths) {
      const bytes = toHex(new Uint8Array(length).map((_, index) => index % 251))
      expect(keccak(bytes.slice(2)), `${length} bytes`).toBe(keccak256(bytes).slice(2))
    }
  })
})

describe.each(versions)('hash of v%s', (version) => {
  it('equals viem for any operation, EntryPoint address and chain', () => {
    fc.assert(
      fc.property(arbitraryOperation(version), arbitraryAddress, chainId, (op, address, chain) => {
        expect(createEntryPoint(version, address).hash(op, chain)).toBe(
          viemHash(version, op, address, chain),
        )
      }),
      { numRuns: randomRuns(2_000) },
    )
  })

  it('does not keep one chain for another', () => {
    const entryPoint = createEntryPoint(version, canonicalAddresses[version])
    const op = sample(version)
    const first = entryPoint.hash(op, 1)
    expect(entryPoint.hash(op, 10)).not.toBe(first)
    expect(entryPoint.hash(op, 1)).toBe(first)
  })

  it('does not cover the signature', () => {
    const entryPoint = createEntryPoint(version, canonicalAddresses[version])
    const op = sample(version)
    expect(entryPoint.hash({ ...op, signature: '0x1234' }, 1)).toBe(entryPoint.hash(op, 1))
  })

  it('refuses a field that does not fit its word and names it', () => {
    const entryPoint = createEntryPoint(version, canonicalAddresses[version])
    const op = sample(version)
    expect(() => entryPoint.hash({ ...op, nonce: 2n ** 256n }, 1)).toThrow(/^nonce: /)
    const limit = version === '0.6' ? 2n ** 256n : 2n ** 128n
    const tooLarge = { ...op, maxFeePerGas: limit }
    expect(() => entryPoint.hash(tooLarge, 1)).toThrow(OperationLimitError)
    expect(() => entryPoint.encodeOperation(tooLarge)).toThrow(/^maxFeePerGas: /)
    expect(() => entryPoint.hash({ ...op, callGasLimit: -1n }, 1)).toThrow(/^callGasLimit: /)
  })
})

describe.each(['0.8', '0.9'] as const)('hash of an EIP-7702 operation in v%s', (version) => {
  const entryPoint = createEntryPoint(version, canonicalAddresses[version])

  it('equals viem with the authorization', () => {
    fc.assert(
      fc.property(arbitraryDelegatedOperation, chainId, (op, chain) => {
        expect(entryPoint.hash(op, chain)).toBe(viemHash(version, op, entryPoint.address, chain))
      }),
      { numRuns: randomRuns(2_000) },
    )
  })

  it('takes the delegate of the sender when there is no authorization', () => {
    fc.assert(
      fc.property(arbitraryDelegatedOperation, arbitraryAddress, (op, other) => {
        const delegate = op.authorization!.address
        const bare = { ...op, authorization: undefined }
        expect(entryPoint.hash(bare, 1, delegate)).toBe(entryPoint.hash(op, 1))
        expect(entryPoint.hash(op, 1, other)).toBe(entryPoint.hash(op, 1))
      }),
    )
  })

  it('throws when the delegate is unknown', () => {
    const [op] = fc.sample(arbitraryDelegatedOperation, { seed: 7, numRuns: 1 })
    const bare = { ...op!, authorization: undefined }
    expect(() => entryPoint.hash(bare, 1)).toThrow(OperationLimitError)
  })

  it('ignores a delegate when the factory is an ordinary one', () => {
    const op = sample(version)
    expect(entryPoint.hash(op, 1, canonicalAddresses['0.6'])).toBe(entryPoint.hash(op, 1))
  })
})

describe('paymaster signature in v0.9', () => {
  const entryPoint = createEntryPoint('0.9', canonicalAddresses['0.9'])
  const suffixed = (data: Hex, signature: Hex, length = hexToBytes(signature).length): Hex =>
    concat([data, signature, numberToHex(length, { size: 2 }), MAGIC])
  const sponsored = arbitraryOperation('0.9').filter((op) => op.paymaster !== undefined)

  it('is left out of the hash as viem does', () => {
    fc.assert(
      fc.property(
        sponsored,
        fc.uint8Array({ minLength: 1, maxLength: 100 }).map((bytes) => toHex(bytes)),
        (op, paymasterSignature) => {
          const ours = {
            ...op,
            paymasterData: suffixed(op.paymasterData, paymasterSignature),
          }
          const theirs = { ...op, paymasterSignature }
          expect(entryPoint.hash(ours, 1)).toBe(viemHash('0.9', theirs, entryPoint.address, 1))
        },
      ),
      { numRuns: randomRuns(2_000) },
    )
  })

  it('of zero length is hashed like any other data', () => {
    fc.assert(
      fc.property(sponsored, (op) => {
        const marked = { ...op, paymasterData: suffixed(op.paymasterData, '0x') }
        expect(entryPoint.hash(marked, 1)).toBe(viemHash('0.9', marked, entryPoint.address, 1))
      }),
    )
  })

  it('longer than the data is refused', () => {
    fc.assert(
      fc.property(sponsored, arbitraryBytes(50), (op, signature) => {
        const available = (op.paymasterData.length + signature.length - 4) / 2
        const broken = suffixed(op.paymasterData, signature, available + 1)
        expect(() => entryPoint.hash({ ...op, paymasterData: broken }, 1)).toThrow(
          OperationLimitError,
        )
      }),
    )
  })

  it('is ordinary data in v0.8', () => {
    fc.assert(
      fc.property(sponsored, (op) => {
        const marked = { ...op, paymasterData: suffixed(op.paymasterData, '0x1234') }
        const v08 = createEntryPoint('0.8', canonicalAddresses['0.8'])
        expect(v08.hash(marked, 1)).toBe(viemHash('0.8', marked, v08.address, 1))
      }),
    )
  })
})
