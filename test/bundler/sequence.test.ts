import { type Hex, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { requestCancellation } from '../../src/mempool/pool/successors.js'
import { useWorld } from '../support/world.js'

describe('operations of one account with one nonce after the other', () => {
  const chain = useWorld()

  const states = (hashes: readonly Hex[]) =>
    Promise.all(hashes.map(async (hash) => (await chain().stored(hash)).state))

  test('are taken while the earlier ones wait, and included in their order', async () => {
    const sender = await chain().createAccount()
    const hashes: Hex[] = []
    for (const nonce of [0n, 1n, 2n])
      hashes.push(await chain().admit(chain().operation(sender, { nonce })))
    while ((await states(hashes)).includes('pooled')) await chain().settle()
    expect(await states(hashes)).toEqual(['included', 'included', 'included'])
    const blocks = await Promise.all(
      hashes.map(async (hash) => (await chain().receipt(hash)).receipt.blockNumber),
    )
    expect(blocks).toEqual([...blocks].sort((a, b) => Number(a - b)))
    expect(new Set(blocks).size).toBe(3)
  })

  test('follow one that is in a bundle already, and wait for it', async () => {
    const sender = await chain().createAccount()
    await chain().setAutomine(false)
    const first = await chain().admit(chain().operation(sender))
    await chain().round()
    expect((await chain().stored(first)).state).toBe('bundled')
    const second = await chain().admit(chain().operation(sender, { nonce: 1n }))
    await chain().round()
    expect((await chain().stored(second)).state).toBe('pooled')
    await chain().setAutomine(true)
    await chain().anvil.request('evm_mine', [])
    await chain().settle()
    expect(await states([first, second])).toEqual(['included', 'included'])
  })

  test('are refused when a nonce between is not pending, which is named', async () => {
    const sender = await chain().createAccount()
    const key = 7n << 64n
    await chain().admit(chain().operation(sender, { nonce: key }))
    await expect(chain().admit(chain().operation(sender, { nonce: key + 2n }))).rejects.toThrow(
      `AA25 invalid account nonce: the operation has nonce ${key + 2n}, the account is at ${key}, and ${key + 1n} is not pending`,
    )
    await expect(chain().admit(chain().operation(sender, { nonce: 1n }))).rejects.toThrow(
      /AA25.*and 0 is not pending/,
    )
    await chain().settle()
  })

  test('must be paid for together', async () => {
    const sender = await chain().createAccount()
    const op = chain().operation(sender)
    const { requiredPrefund } = chain().entryPoint
    await chain().withdraw(sender, parseEther('1') - (requiredPrefund(op) * 3n) / 2n)
    await chain().anvil.request('anvil_setBalance', [sender, '0x0'])
    await chain().admit(op)
    const next = chain().operation(sender, { nonce: 1n })
    await expect(chain().admit(next)).rejects.toThrow(
      `pending operations of the account may take ${requiredPrefund(op)} wei before`,
    )
    await chain().settle()
    // The first one took less than it might have.
    expect((await chain().stored(await chain().admit(next))).state).toBe('pooled')
    await chain().settle()
  })

  test('leave the pool with one before them that is dropped, and say so', async () => {
    const sender = await chain().createAccount()
    const first = await chain().admit(chain().operation(sender))
    const later = [
      await chain().admit(chain().operation(sender, { nonce: 1n })),
      await chain().admit(chain().operation(sender, { nonce: 2n })),
    ]
    const otherKey = await chain().admit(chain().operation(sender, { nonce: 1n << 64n }))
    await requestCancellation(chain().database, chain().definition.chainId, first, 'operator')
    expect(await states([first, ...later])).toEqual(['dropped', 'dropped', 'dropped'])
    for (const hash of later)
      expect(await chain().stored(hash)).toMatchObject({
        reasonCode: 'PREDECESSOR_DROPPED',
        reason: expect.stringContaining(`operation ${first} with nonce 0`),
      })
    await chain().settle()
    expect((await chain().stored(otherKey)).state).toBe('included')
    expect(await chain().admit(chain().operation(sender))).toBe(first)
    expect(await chain().admit(chain().operation(sender, { nonce: 1n }))).toBe(later[0])
    while ((await states([later[0]!])).includes('pooled')) await chain().settle()
    expect(await states([first, later[0]!])).toEqual(['included', 'included'])
  })

  test('stay when the one before them is on the chain by somebody else', async () => {
    const sender = await chain().createAccount()
    const first = chain().operation(sender)
    const hashes = [
      await chain().admit(first),
      await chain().admit(chain().operation(sender, { nonce: 1n })),
    ]
    await chain().carry([first])
    await chain().settle()
    await chain().settle()
    expect(await states(hashes)).toEqual(['included', 'included'])
    expect((await chain().stored(hashes[0]!)).bundleId).toBeNull()
  })
})
