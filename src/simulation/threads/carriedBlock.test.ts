import fc from 'fast-check'
import { type Hex, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import type { KnownBlock } from '../../chain/stateProvider.js'
import type { Miss } from '../../evm/index.js'
import { knows, packBlock, unpackBlock, Wanted } from './carriedBlock.js'
import { createCodeReceiver, createCodeSender } from './codes.js'

function addressOf(index: number): Hex {
  return numberToHex(index, { size: 20 })
}
function slotOf(index: number): Hex {
  return numberToHex(index, { size: 32 })
}

/** More codes than a thread keeps. */
const codes = Array.from({ length: 400 }, (_, at) => Uint8Array.of(0x60, at >> 8, at & 255))

/** A block that knows every third account not, and every fifth slot. */
const known: KnownBlock = {
  head: {} as KnownBlock['head'],
  block: {
    fork: 'prague',
    chainId: 1n,
    number: 9n,
    timestamp: 5n,
    coinbase: addressOf(1),
    gasLimit: 30_000_000n,
    prevRandao: slotOf(0),
    baseFee: 7n,
    blobBaseFee: 1n,
    blockHash: (number) => (number === 8n ? slotOf(8) : undefined),
    unknownPrecompiles: new Set([addressOf(0x200)]),
  },
  account(address) {
    const index = Number(address)
    if (index % 3 === 0) return undefined
    const nonce = index % 2 === 0 ? BigInt(index) : undefined
    return { nonce, balance: BigInt(index) ** 5n, code: codes[index % codes.length]! }
  },
  slot: (address, slot) =>
    Number(slot) % 5 === 0 ? undefined : BigInt(address) * 2n ** 60n + BigInt(slot),
}

const part = fc.oneof<fc.Arbitrary<Miss>[]>(
  fc.nat(2_000).map((at) => ({ kind: 'account', address: addressOf(at) })),
  fc.nat(2_000).map((at) => ({ kind: 'nonce', address: addressOf(at) })),
  fc
    .tuple(fc.nat(5), fc.nat(500))
    .map(([at, slot]) => ({ kind: 'slot', address: addressOf(at), slot: slotOf(slot) })),
  fc.constantFrom<Miss>({ kind: 'blockHash', number: 8n }, { kind: 'blockHash', number: 3n }),
)

test('the other thread sees what was wanted and is known, and nothing else; each code travels once', () =>
  fc.assert(
    fc.property(fc.array(fc.array(part, { maxLength: 200 }), { maxLength: 12 }), (jobs) => {
      const send = createCodeSender()
      const receive = createCodeReceiver()
      for (const parts of jobs) {
        const wanted = new Wanted()
        wanted.add(parts)
        const packed = structuredClone(packBlock(known, wanted, send))
        const { block, state } = unpackBlock(packed, receive)
        expect({ ...block, blockHash: undefined, chainPrecompiles: undefined }).toEqual({
          ...known.block,
          blockHash: undefined,
        })
        for (const miss of parts) {
          if (miss.kind === 'slot')
            expect(state.slot(miss.address, miss.slot)).toBe(known.slot(miss.address, miss.slot))
          else if (miss.kind === 'blockHash')
            expect(block.blockHash(miss.number)).toBe(known.block.blockHash(miss.number))
          else expect(state.account(miss.address)).toEqual(known.account(miss.address))
        }
        expect(state.account(addressOf(5_000))).toBeUndefined()
      }
    }),
  ))

test('code comes as the same array each time, as long as the thread keeps it', () => {
  const send = createCodeSender()
  const receive = createCodeReceiver()
  const code = codes[0]!
  const first = send(code)
  expect(first.bytes).toBe(code)
  const received = receive(structuredClone(first))
  const again = send(code)
  expect(again.bytes).toBeUndefined()
  expect(receive(again)).toBe(received)
  expect(() => createCodeReceiver()(again)).toThrow('never sent')
})

test('a nonce is known apart from its account', () => {
  expect(knows(known, { kind: 'account', address: addressOf(1) })).toBe(true)
  expect(knows(known, { kind: 'nonce', address: addressOf(1) })).toBe(false)
  expect(knows(known, { kind: 'nonce', address: addressOf(2) })).toBe(true)
})
