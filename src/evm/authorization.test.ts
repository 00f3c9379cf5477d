import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { CONTRACT, contextOn, done, messageTo, OTHER, worldOf } from '../../test/evm/harness.js'
import { authorityOf, type EvmAuthorization } from './authorization.js'
import { fromHex } from './bytes/hex.js'
import { call } from './call.js'
import { overlay } from './state/state.js'

const signer = privateKeyToAccount(keccak256('0x5a'))
const AUTHORITY = signer.address.toLowerCase() as `0x${string}`
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

async function signed(
  changes: { chainId?: number; nonce?: number; address?: `0x${string}` } = {},
): Promise<EvmAuthorization> {
  const request = { chainId: 1, nonce: 0, address: OTHER, ...changes }
  const { r, s, yParity } = await signer.signAuthorization(request)
  return {
    chainId: BigInt(request.chainId),
    nonce: BigInt(request.nonce),
    address: request.address,
    yParity: yParity!,
    r: BigInt(r),
    s: BigInt(s),
  }
}

/** Runs a call with authorizations to `to`, in a world where OTHER returns its own address. */
function run(authorizations: EvmAuthorization[], authority = {}, to = AUTHORITY) {
  const state = worldOf({ [OTHER]: { code: '0x305f5260205ff3' }, [AUTHORITY]: authority })
  const result = done(call(contextOn(state), messageTo(to, { authorizations })))
  return { ...result, after: overlay(state, result.changes).account(AUTHORITY)! }
}

describe('authorityOf', () => {
  it('recovers who signed', async () => {
    expect(authorityOf(await signed())).toBe(AUTHORITY)
  })

  it('refuses a high s and a parity that is neither 0 nor 1', async () => {
    const good = await signed()
    const high = { ...good, s: ORDER - good.s, yParity: 1 - good.yParity }
    expect(authorityOf(high)).toBeUndefined()
    expect(authorityOf({ ...good, yParity: 27 })).toBeUndefined()
  })
})

describe('authorizations of a message', () => {
  it('make the authority run its delegate as itself', async () => {
    const { after, output } = run([await signed()])
    expect(after.code).toEqual(fromHex(`0xef0100${OTHER.slice(2)}`))
    expect(after.nonce).toBe(1n)
    expect(output).toEqual(fromHex(`0x${'00'.repeat(12)}${AUTHORITY.slice(2)}`))
  })

  it('cost 25,000, of which 12,500 come back for an account that is not empty', async () => {
    const tuple = await signed()
    const fresh = run([tuple], {}, CONTRACT)
    expect(fresh).toMatchObject({ gasUsed: 46_000, gasRefunded: 0 })
    const existing = run([tuple], { balance: 1n }, CONTRACT)
    expect(existing.gasRefunded).toBe(Math.floor(46_000 / 5))
  })

  it('clear the delegation with the zero address', async () => {
    const code = `0xef0100${OTHER.slice(2)}`
    const none = await signed({ address: `0x${'00'.repeat(20)}` })
    expect(run([none], { code }).after).toMatchObject({ nonce: 1n, code: new Uint8Array(0) })
  })

  it.each([
    ['another chain', { chainId: 5 }, {}],
    ['another nonce', { nonce: 4 }, {}],
    ['an authority with code', {}, { code: '0x00' }],
  ] as const)('are passed over for %s', async (_, changes, authority) => {
    const before = worldOf({ [AUTHORITY]: authority }).account(AUTHORITY)!
    expect(run([await signed(changes)], authority, CONTRACT).after).toEqual(before)
  })

  it('stay when the message itself fails', async () => {
    const tuple = await signed()
    const state = worldOf({ [CONTRACT]: { code: '0xfe' } })
    const result = done(call(contextOn(state), messageTo(CONTRACT, { authorizations: [tuple] })))
    expect(result.success).toBe(false)
    expect(result.changes.get(AUTHORITY)?.code).toHaveLength(23)
  })
})
