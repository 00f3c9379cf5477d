import fc from 'fast-check'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxTokenCharge } from '../../src/paymaster/token/tokenCharge.js'
import { encodeTokenData, tokenPaymentHash } from '../../src/paymaster/tokenData.js'
import { operation, uint } from '../support/tanks/arbitraryOperation.js'
import { permitFor, quote, signature } from '../support/tanks/arbitraryQuote.js'
import { askTokenTank } from '../support/tanks/tokenTankCalls.js'
import { useTokenTankChain } from '../support/tanks/tokenTankChain.js'
import { VERSIONS } from '../support/world/versionChain.js'

describe.each(VERSIONS)('quotes on EntryPoint v%s', (version) => {
  const chain = useTokenTankChain(version)
  let tank: Address

  beforeAll(async () => {
    tank = await chain().createTokenTank(0, 0n)
  })

  afterAll(() => chain().anvil.stop())

  const quoted = quote.chain((terms) =>
    fc.record({ quote: fc.constant(terms), signature, permit: permitFor(terms) }),
  )

  test('contract and service hash every operation and quote alike', () =>
    fc.assert(
      fc.asyncProperty(operation, quoted, async (drawn, data) => {
        const op = { ...drawn, paymaster: tank, paymasterData: encodeTokenData(data) }
        expect(await askTokenTank(chain(), 'getHash', op)).toBe(
          tokenPaymentHash(op, chain().entryPoint, chain().chainId, data),
        )
      }),
      { numRuns: 100 },
    ))

  const small = fc.record({
    rate: uint(96),
    callGasLimit: uint(32),
    verificationGasLimit: uint(32),
    preVerificationGas: uint(32),
    maxFeePerGas: uint(64),
    paymasterVerificationGasLimit: uint(32),
  })

  test('contract and service agree about the most that is taken', () =>
    fc.assert(
      fc.asyncProperty(operation, quoted, small, async (drawn, data, { rate, ...limits }) => {
        const terms = { ...data.quote, rate }
        const op = {
          ...drawn,
          ...limits,
          paymaster: tank,
          paymasterPostOpGasLimit: terms.postOpGas,
          paymasterData: encodeTokenData({ ...data, quote: terms }),
        }
        expect(await askTokenTank(chain(), 'maxCharge', op)).toBe(
          maxTokenCharge(op, chain().entryPoint, terms),
        )
      }),
      { numRuns: 100 },
    ))
})
