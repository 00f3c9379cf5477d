import fc from 'fast-check'
import {
  type Abi,
  type AbiFunction,
  type AbiParameter,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  numberToHex,
} from 'viem'
import {
  entryPoint06Abi,
  entryPoint07Abi,
  entryPoint08Abi,
  entryPoint09Abi,
} from 'viem/account-abstraction'
import { describe, expect, it } from 'vitest'
import {
  arbitraryAddress,
  arbitraryBytes,
  arbitraryOperation,
} from '../../../test/support/operations/arbitraryOperation.js'
import { toPackedStruct, toStructV06 } from '../../../test/support/operations/viemStructs.js'
import { canonicalAddresses } from '../canonicalAddresses.js'
import { createEntryPoint } from '../createEntryPoint.js'
import type { Version } from '../entryPoint.js'
import type { Operation } from '../operation.js'

const versions: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']
const packedAbis = { '0.7': entryPoint07Abi, '0.8': entryPoint08Abi, '0.9': entryPoint09Abi }
const beneficiary = canonicalAddresses['0.9']

function viemHandleOps(version: Version, ops: readonly Operation[], to: Hex): Hex {
  return version === '0.6'
    ? encodeFunctionData({
        abi: entryPoint06Abi,
        functionName: 'handleOps',
        args: [ops.map(toStructV06), to],
      })
    : encodeFunctionData({
        abi: packedAbis[version],
        functionName: 'handleOps',
        args: [ops.map(toPackedStruct), to],
      })
}

function viemOperation(version: Version, op: Operation): Hex {
  if (version === '0.6') {
    return encodeAbiParameters([structOf(entryPoint06Abi)], [toStructV06(op)])
  }
  return encodeAbiParameters([structOf(packedAbis[version])], [toPackedStruct(op)])
}

function structOf(abi: Abi): AbiParameter {
  const { inputs } = getAbiItem({ abi, name: 'handleOps' }) as AbiFunction
  return { ...inputs[0]!, type: 'tuple' }
}

describe.each(versions)('handleOps of v%s', (version) => {
  const entryPoint = createEntryPoint(version, canonicalAddresses[version])
  const operations = fc.array(arbitraryOperation(version), { maxLength: 4 })

  it('is encoded as viem does', () => {
    fc.assert(
      fc.property(operations, arbitraryAddress, (ops, to) => {
        expect(entryPoint.encodeHandleOps(ops, to)).toBe(viemHandleOps(version, ops, to))
      }),
      { numRuns: 1_000 },
    )
  })

  it('gives its operations back', () => {
    fc.assert(
      fc.property(operations, (ops) => {
        expect(entryPoint.decodeHandleOps(entryPoint.encodeHandleOps(ops, beneficiary))).toEqual(
          ops,
        )
      }),
      { numRuns: 1_000 },
    )
  })

  it('gives its operations back from upper case and with bytes behind', () => {
    fc.assert(
      fc.property(operations, arbitraryBytes(), (ops, rest) => {
        const input = concat([entryPoint.encodeHandleOps(ops, beneficiary), rest])
        expect(entryPoint.decodeHandleOps(`0x${input.slice(2).toUpperCase()}`)).toEqual(ops)
      }),
    )
  })

  it('gives its paymaster back from paymasterAndData, and no part of one', () => {
    fc.assert(
      fc.property(arbitraryOperation(version), fc.nat(), (op, cut) => {
        const bytes = entryPoint.paymasterAndData(op)
        const { paymaster, paymasterData } = op
        const { paymasterVerificationGasLimit, paymasterPostOpGasLimit } = op
        const limits = { paymasterVerificationGasLimit, paymasterPostOpGasLimit }
        expect(entryPoint.readPaymasterAndData(bytes)).toEqual({
          paymaster,
          paymasterData,
          ...limits,
        })
        if (paymaster === undefined) return
        const least = version === '0.6' ? 20 : 52
        const short: Hex = `0x${bytes.slice(2, 4 + 2 * (cut % (least - 1)))}`
        expect(entryPoint.readPaymasterAndData(short)).toBeUndefined()
      }),
    )
  })

  it('encodes one operation as viem does, as long as its part of the call', () => {
    fc.assert(
      fc.property(operations, arbitraryOperation(version), (ops, op) => {
        const alone = entryPoint.encodeOperation(op)
        expect(alone).toBe(viemOperation(version, op))
        const grown = entryPoint.encodeHandleOps([...ops, op], beneficiary).length
        expect(grown - entryPoint.encodeHandleOps(ops, beneficiary).length).toBe(alone.length - 2)
      }),
      { numRuns: 1_000 },
    )
  })

  it('is not what random bytes are, whatever the selector', () => {
    const selector = entryPoint.encodeHandleOps([], beneficiary).slice(0, 10)
    const prefixes = fc.constantFrom('0x', selector)
    fc.assert(
      fc.property(prefixes, fc.uint8Array({ minLength: 1, maxLength: 500 }), (prefix, bytes) => {
        const input: Hex = `0x${prefix.slice(2)}${Buffer.from(bytes).toString('hex')}`
        expect(entryPoint.decodeHandleOps(input)).toBeUndefined()
      }),
      { numRuns: 2_000 },
    )
  })

  it('is read without throwing when cut or changed anywhere', () => {
    const word = fc.oneof(
      fc.bigInt({ min: 0n, max: 2_000n }),
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    )
    fc.assert(
      fc.property(operations, fc.nat(), word, fc.nat(), (ops, place, value, cut) => {
        const input = entryPoint.encodeHandleOps(ops, beneficiary)
        const words = Math.floor((input.length - 10) / 64)
        const at = 10 + (place % words) * 64
        const changed: Hex = `0x${input.slice(2, at)}${numberToHex(value, { size: 32 }).slice(2)}${input.slice(at + 64)}`
        const decoded = entryPoint.decodeHandleOps(changed)
        expect(decoded === undefined || Array.isArray(decoded)).toBe(true)
        const length = cut % (input.length - 64)
        expect(entryPoint.decodeHandleOps(input.slice(0, length) as Hex)).toBeUndefined()
      }),
      { numRuns: 3_000 },
    )
  })

  it('cannot be made to repeat a large operation by overlapping offsets', () => {
    const [op] = fc.sample(arbitraryOperation(version), { seed: 3, numRuns: 1 })
    const large = { ...op!, callData: `0x${'ab'.repeat(20_000)}` as Hex }
    const struct = viemOperation(version, large).slice(66)
    const count = 500
    const offset = numberToHex(count * 32, { size: 32 }).slice(2)
    const input = concat([
      entryPoint.encodeHandleOps([], beneficiary).slice(0, 10) as Hex,
      numberToHex(64, { size: 32 }),
      beneficiary.replace('0x', `0x${'0'.repeat(24)}`) as Hex,
      numberToHex(count, { size: 32 }),
      `0x${offset.repeat(count)}${struct}`,
    ])
    expect(entryPoint.decodeHandleOps(input)).toBeUndefined()
  })
})

describe('decodeHandleOps', () => {
  const short = (version: Version, field: 'initCode' | 'paymasterAndData', bytes: Hex) => {
    const [op] = fc.sample(arbitraryOperation('0.6'), { seed: 5, numRuns: 1 })
    const bare = { ...op!, factory: undefined, paymaster: undefined }
    const input =
      version === '0.6'
        ? encodeFunctionData({
            abi: entryPoint06Abi,
            functionName: 'handleOps',
            args: [[{ ...toStructV06(bare), [field]: bytes }], beneficiary],
          })
        : encodeFunctionData({
            abi: packedAbis[version],
            functionName: 'handleOps',
            args: [[{ ...toPackedStruct(bare), [field]: bytes }], beneficiary],
          })
    return createEntryPoint(version, canonicalAddresses[version]).decodeHandleOps(input)
  }

  it('refuses an entity shorter than its fixed part', () => {
    for (const version of versions) {
      const nineteen: Hex = `0x${'11'.repeat(19)}`
      expect(short(version, 'initCode', nineteen), version).toBeUndefined()
      expect(short(version, 'paymasterAndData', nineteen), version).toBeUndefined()
      expect(short(version, 'initCode', `${nineteen}11`), version).toHaveLength(1)
    }
    expect(short('0.6', 'paymasterAndData', `0x${'11'.repeat(20)}`)).toHaveLength(1)
    expect(short('0.7', 'paymasterAndData', `0x${'11'.repeat(51)}`)).toBeUndefined()
    expect(short('0.7', 'paymasterAndData', `0x${'11'.repeat(52)}`)).toHaveLength(1)
  })

  it('takes a short EIP-7702 marker for the whole one, from v0.8 on', () => {
    const marker: Hex = '0x7702000000000000000000000000000000000000'
    for (const version of ['0.8', '0.9'] as const) {
      for (const size of [2, 3, 12, 19, 20]) {
        const ops = short(version, 'initCode', marker.slice(0, 2 + size * 2) as Hex)
        expect(ops, `${version}, ${size} bytes`).toMatchObject([
          { factory: marker, factoryData: '0x' },
        ])
      }
      expect(short(version, 'initCode', '0x77'), version).toBeUndefined()
      expect(short(version, 'initCode', '0x770201'), version).toBeUndefined()
    }
    expect(short('0.7', 'initCode', '0x7702')).toBeUndefined()
  })

  it('does not take the calls of another struct', () => {
    const [op] = fc.sample(arbitraryOperation('0.6'), { seed: 5, numRuns: 1 })
    const v06 = createEntryPoint('0.6', canonicalAddresses['0.6'])
    const v07 = createEntryPoint('0.7', canonicalAddresses['0.7'])
    expect(v07.decodeHandleOps(v06.encodeHandleOps([op!], beneficiary))).toBeUndefined()
    expect(v06.decodeHandleOps(v07.encodeHandleOps([op!], beneficiary))).toBeUndefined()
  })
})
