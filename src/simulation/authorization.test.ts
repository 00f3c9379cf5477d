import fc from 'fast-check'
import { type Address, type Hex, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { DELEGATION_MARKER } from '../erc4337/delegation.js'
import type { Version } from '../erc4337/entryPoint.js'
import type { Authorization } from '../erc4337/operation.js'
import {
  authorizationEffect,
  requireAuthorizationApplies,
  requireAuthorizationSigner,
  requireDelegation,
} from './authorization.js'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const maxNonce = 2n ** 64n - 1n

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Address => `0x${Buffer.from(bytes).toString('hex')}`)
const account = fc
  .bigInt({ min: 1n, max: order - 1n })
  .map((key) => privateKeyToAccount(numberToHex(key, { size: 32 })))

/** Authorizations as viem signs them, with their signer. Its nonces are numbers. */
const signed = fc
  .record({
    account,
    address,
    chainId: fc.nat(2 ** 31),
    nonce: fc.nat(Number.MAX_SAFE_INTEGER),
  })
  .map(({ account, ...tuple }) => ({ account, tuple }))

async function sign(
  { account, tuple }: typeof signed extends fc.Arbitrary<infer T> ? T : never,
  changes: Partial<Authorization> = {},
) {
  const { r, s, yParity } = await account.signAuthorization(tuple)
  const { chainId, address, nonce } = tuple
  const signature = { r, s, yParity: yParity as 0 | 1 }
  const authorization = { chainId, address, nonce: BigInt(nonce), ...signature, ...changes }
  return { sender: account.address.toLowerCase() as Address, factory: undefined, authorization }
}

describe('the signer of an authorization', () => {
  test('is the sender, as viem signs', () =>
    fc.assert(
      fc.asyncProperty(signed, async (made) => {
        const op = await sign(made)
        expect(() => requireAuthorizationSigner(op)).not.toThrow()
      }),
      { numRuns: 50 },
    ))

  test('is somebody else once anything signed has changed, or the sender is another', () =>
    fc.assert(
      fc.asyncProperty(signed, address, async (made, other) => {
        const op = await sign(made)
        const { authorization } = op
        const changed = [
          { ...op, sender: other },
          { ...op, authorization: { ...authorization, address: other } },
          { ...op, authorization: { ...authorization, chainId: authorization.chainId + 1 } },
          { ...op, authorization: { ...authorization, nonce: authorization.nonce + 1n } },
          { ...op, authorization: { ...authorization, yParity: flip(authorization.yParity) } },
        ]
        for (const each of changed) {
          expect(() => requireAuthorizationSigner(each)).toThrow(/eip7702Auth: /)
        }
      }),
      { numRuns: 30 },
    ))

  test('cannot be known from the other signature of the same message, with a high s', () =>
    fc.assert(
      fc.asyncProperty(signed, async (made) => {
        const { authorization, ...op } = await sign(made)
        const s = numberToHex(order - BigInt(authorization.s), { size: 32 })
        const twin = { ...authorization, s, yParity: flip(authorization.yParity) }
        expect(() => requireAuthorizationSigner({ ...op, authorization: twin })).toThrow(/low s/)
      }),
      { numRuns: 30 },
    ))

  test('is not looked for in rubbish or at the nonce that never applies', async () => {
    const [made] = fc.sample(signed, { numRuns: 1, seed: 1 })
    const zero: Hex = `0x${'00'.repeat(32)}`
    const rubbish = await sign(made!, { r: zero, s: zero })
    expect(() => requireAuthorizationSigner(rubbish)).toThrow(/not valid/)
    const last = await sign(made!, { nonce: maxNonce })
    expect(() => requireAuthorizationSigner(last)).toThrow(/never applies/)
  })
})

function flip(yParity: 0 | 1) {
  return (yParity === 0 ? 1 : 0) as 0 | 1
}

describe('an authorization', () => {
  const [made] = fc.sample(signed, { numRuns: 1, seed: 2 })
  const versions: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']
  const refusal = (version: Version, fields: object, chainId = made!.tuple.chainId) => {
    const tuple: Authorization = {
      chainId: made!.tuple.chainId,
      address: made!.tuple.address,
      nonce: 0n,
      yParity: 0,
      r: '0x',
      s: '0x',
    }
    const op = { sender: DELEGATION_MARKER, factory: undefined, authorization: tuple, ...fields }
    try {
      requireDelegation(version, op, { chainId })
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  test('is part of operations of v0.7 and later, whatever its signature', () => {
    expect(versions.map((version) => refusal(version, {}) === undefined)).toEqual([
      false,
      true,
      true,
      true,
    ])
    expect(refusal('0.6', {})).toMatch(/v0.6 have none/)
  })

  test('goes with the marker as factory in v0.8 and later only, and with no other factory', () => {
    const withMarker = { factory: DELEGATION_MARKER }
    const alone = { factory: DELEGATION_MARKER, authorization: undefined }
    for (const fields of [withMarker, alone]) {
      expect(versions.map((version) => refusal(version, fields) === undefined)).toEqual([
        false,
        false,
        true,
        true,
      ])
    }
    expect(refusal('0.8', { factory: made!.tuple.address })).toMatch(/cannot create it/)
  })

  test('holds on the chain that it names, or on every chain', () => {
    const { chainId } = made!.tuple
    expect(refusal('0.8', {}, chainId + 1)).toMatch(`sign it for ${chainId + 1}`)
    const everywhere = { address: made!.tuple.address, chainId: 0, nonce: 0n }
    expect(refusal('0.8', { authorization: everywhere }, chainId + 1)).toBeUndefined()
  })
})

describe('what an authorization does', () => {
  const nonces = fc.bigInt({ min: 0n, max: 20n })
  const nobody: Address = `0x${'00'.repeat(20)}`
  const codeOf = (delegate: Address): Hex => `0xef0100${delegate.slice(2)}`

  test('follows the nonce, unless it is done already', () => {
    fc.assert(
      fc.property(nonces, nonces, address, address, (nonce, at, delegate, other) => {
        fc.pre(delegate !== other)
        const wanted = { address: delegate, nonce }
        const byNonce = nonce === at ? 'applies' : nonce > at ? 'early' : 'stale'
        expect(authorizationEffect(wanted, { nonce: at, code: '0x' })).toBe(byNonce)
        const elsewhere = { nonce: at, code: codeOf(other) }
        expect(authorizationEffect(wanted, elsewhere)).toBe(byNonce)
        const here = { nonce: at, code: codeOf(delegate) }
        expect(authorizationEffect(wanted, here)).toBe('inPlace')
        const contract = { nonce: at, code: '0x6001' as const }
        expect(authorizationEffect(wanted, contract)).toBe('contract')
        const clearing = { address: nobody, nonce }
        expect(authorizationEffect(clearing, { nonce: at, code: '0x' })).toBe('inPlace')
        expect(authorizationEffect(clearing, elsewhere)).toBe(byNonce)
      }),
    )
  })

  test('is asked of the next block, with what the sender has pending', () => {
    const tuple = { chainId: 0, address: codeOf(nobody).slice(0, 42) as Address, nonce: 3n }
    const authorization: Authorization = { ...tuple, yParity: 0, r: '0x', s: '0x' }
    const at = (nonce: bigint) => ({ nonce, code: '0x' as const })
    expect(requireAuthorizationApplies(authorization, at(3n), 3n)).toBe('applies')
    expect(() => requireAuthorizationApplies(authorization, at(3n), 5n)).toThrow(/sign it for 5/)
    for (const nonce of [2n, 4n]) {
      const refusal = { code: -32500, message: expect.stringContaining(`is at ${nonce}`) }
      expect(() => requireAuthorizationApplies(authorization, at(nonce), 3n)).toThrow(
        expect.objectContaining(refusal),
      )
    }
    const done = { nonce: 9n, code: codeOf(authorization.address) }
    expect(requireAuthorizationApplies(authorization, done, 9n)).toBe('inPlace')
    const contract = { nonce: 3n, code: '0x6001' as const }
    expect(() => requireAuthorizationApplies(authorization, contract, 3n)).toThrow(/is a contract/)
  })
})
