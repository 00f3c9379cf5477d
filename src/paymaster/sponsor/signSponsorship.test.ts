import { type Address, type Hex, recoverAddress, sliceHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import { sponsorshipHash } from '../tank/sponsorshipHash.js'
import { stubSignature } from '../../gas/placeholder.js'
import { signSponsorship } from './signSponsorship.js'
import { plainOperation } from '../../../test/support/operations/plainOperation.js'

const entryPoint = createEntryPoint('0.6', '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789')
const key: Hex = `0x${'5a'.repeat(32)}`
const signer = { key, address: privateKeyToAddress(key).toLowerCase() as Address }
const tank: Address = `0x${'7a'.repeat(20)}`

const op = {
  ...plainOperation({
    sender: `0x${'5e'.repeat(20)}`,
    nonce: 7n,
    factory: `0x${'fa'.repeat(20)}`,
    factoryData: '0x1234',
    callData: '0xabcdef',
    callGasLimit: 1n,
    verificationGasLimit: 2n,
    preVerificationGas: 3n,
    maxFeePerGas: 4n,
    maxPriorityFeePerGas: 5n,
    signature: '0x',
  }),
  paymaster: tank,
}
const range = { validAfter: 0, validUntil: 1_800_000_000 }

test('an address can be recovered from the stub signature, and it has no zero byte', async () => {
  const hash = sponsorshipHash(op, entryPoint, 1, range)
  await expect(recoverAddress({ hash, signature: stubSignature })).resolves.toMatch(/^0x/)
  expect(stubSignature).not.toMatch(/^0x(?:..)*00/)
})

test('the signature is that of the signer', async () => {
  const { paymasterData, ...rest } = signSponsorship(op, { entryPoint, chainId: 1 }, range, signer)
  const { paymasterData: _, ...before } = op
  expect(rest).toEqual(before)
  const hash = sponsorshipHash(op, entryPoint, 1, range)
  const recovered = await recoverAddress({ hash, signature: sliceHex(paymasterData, 12) })
  expect(recovered.toLowerCase()).toBe(signer.address)
})

test('a key of somebody else never signs', () => {
  const wrong = { ...signer, key: `0x${'5b'.repeat(32)}` as const }
  expect(() => signSponsorship(op, { entryPoint, chainId: 1 }, range, wrong)).toThrow(/not that of/)
})

test('every signed field, the chain, the tank and the range change the hash', () => {
  const variants = [
    sponsorshipHash(op, entryPoint, 1, range),
    sponsorshipHash(op, entryPoint, 2, range),
    sponsorshipHash(op, createEntryPoint('0.6', tank), 1, range),
    sponsorshipHash({ ...op, paymaster: op.sender }, entryPoint, 1, range),
    sponsorshipHash({ ...op, sender: tank }, entryPoint, 1, range),
    sponsorshipHash({ ...op, nonce: 8n }, entryPoint, 1, range),
    sponsorshipHash({ ...op, factory: tank }, entryPoint, 1, range),
    sponsorshipHash({ ...op, factoryData: '0x' }, entryPoint, 1, range),
    sponsorshipHash({ ...op, callData: '0x' }, entryPoint, 1, range),
    sponsorshipHash({ ...op, callGasLimit: 9n }, entryPoint, 1, range),
    sponsorshipHash({ ...op, verificationGasLimit: 9n }, entryPoint, 1, range),
    sponsorshipHash({ ...op, preVerificationGas: 9n }, entryPoint, 1, range),
    sponsorshipHash({ ...op, maxFeePerGas: 9n }, entryPoint, 1, range),
    sponsorshipHash({ ...op, maxPriorityFeePerGas: 9n }, entryPoint, 1, range),
    sponsorshipHash(op, entryPoint, 1, { ...range, validAfter: 1 }),
    sponsorshipHash(op, entryPoint, 1, { ...range, validUntil: 1 }),
  ]
  expect(new Set(variants).size).toBe(variants.length)
})
