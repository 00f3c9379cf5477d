import fc from 'fast-check'
import { type Address, concatHex, type Hex, keccak256, numberToHex, pad } from 'viem'
import { expect, test } from 'vitest'
import { depositSlot, nonceSlot } from '../erc4337/encoding/storageLayout.js'
import { fromHex, type Preimage } from '../evm/index.js'
import { AccessPatterns } from './accessPrediction.js'

const contract: Address = '0x00000000000000000000000000000000000000cc'
const address = fc
  .bigInt({ min: 0x10000n, max: 2n ** 160n - 1n })
  .map((value): Address => numberToHex(value, { size: 20 }))
const nonceKey = fc.bigInt({ min: 0n, max: 2n ** 192n - 1n })

function preimage(...words: Hex[]): Preimage & { hex: Hex } {
  const input = concatHex(words.map((each) => pad(each)))
  return { input: fromHex(input), hash: fromHex(keccak256(input)), hex: keccak256(input) }
}
function next(slot: Hex, by: bigint): Hex {
  return numberToHex(BigInt(slot) + by, { size: 32 })
}

/** What an EntryPoint and an account touch for this subject. */
function runOf(sender: Address, key: bigint) {
  const deposit = preimage(sender, '0x00')
  const ofSender = preimage(sender, '0x01')
  const nonce = preimage(numberToHex(key), ofSender.hex)
  const fixed = numberToHex(0xabcdn, { size: 32 })
  return {
    preimages: [deposit, ofSender, nonce],
    touched: {
      accounts: new Set([sender, contract]),
      slots: new Map<Address, Set<Hex>>([
        [contract, new Set([deposit.hex, next(deposit.hex, 1n), nonce.hex])],
        [sender, new Set([fixed])],
      ]),
    },
  }
}

test('what one sender touched tells what another will touch', () =>
  fc.assert(
    fc.property(address, nonceKey, address, nonceKey, (first, firstKey, second, secondKey) => {
      fc.pre(firstKey > 1n)
      const memory = new AccessPatterns()
      const { touched, preimages } = runOf(first, firstKey)
      memory.learn(['kind'], { sender: first, nonceKey: firstKey }, touched, preimages)
      const recalled = memory.recall('kind', { sender: second, nonceKey: secondKey })
      const expected = runOf(second, secondKey).touched
      expect(recalled).toEqual([
        { kind: 'account', address: second },
        { kind: 'account', address: contract },
        ...[...expected.slots].flatMap(([where, slots]) =>
          [...slots].map((slot) => ({ kind: 'slot', address: where, slot })),
        ),
      ])
    }),
  ))

test('the slots of EntryPoints are where their mappings put them', () => {
  const sender: Address = '0x00000000000000000000000000000000000000aa'
  const { touched } = runOf(sender, 5n)
  const slots = [...(touched.slots.get(contract) ?? [])]
  expect(depositSlot(sender)).toBe(slots[0])
  expect(nonceSlot(sender, (5n << 64n) | 3n)).toBe(slots[2])
})

test('a run that touches very much is not remembered, nor one of another kind recalled', () => {
  const memory = new AccessPatterns()
  const subject = { sender: contract, nonceKey: 0n }
  const slots = new Set(Array.from({ length: 301 }, (_, at) => numberToHex(at, { size: 32 })))
  const touched = { accounts: new Set<Address>(), slots: new Map([[contract, slots]]) }
  memory.learn(['large'], subject, touched, [])
  expect(memory.recall('large', subject)).toEqual([])
  expect(memory.recall('other', subject)).toEqual([])
})
