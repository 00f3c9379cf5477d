import { type Address, concatHex, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeTankData, stubSignature } from '../../src/paymaster/tank/tankData.js'
import { askTank } from '../support/tanks/tankCalls.js'
import { openTankChain, type TankChain } from '../support/tanks/tankChain.js'

/** Length of the signature and v0.9's mark of a paymasterSignature. */
const SUFFIX: Hex = '0x004122e325a297439656'

let chain: TankChain
let tank: Address

beforeAll(async () => {
  chain = await openTankChain('0.9')
  tank = await chain.createTank(0)
})

afterAll(() => chain.anvil.stop())

test('the tank may sign after the account (v0.9 paymasterSignature)', async () => {
  const draft = await chain.draft('early')
  const sponsored = await chain.sponsor(draft, tank)
  const stub = encodeTankData({ validUntil: 0, validAfter: 0 }, stubSignature)
  const unsigned = { ...sponsored, paymasterData: concatHex([stub, SUFFIX]) }
  const early = await chain.sign(unsigned, 'early')
  expect(await chain.failureOf([early])).toMatch(/^AA34/)

  const paymasterData = concatHex([sponsored.paymasterData, SUFFIX])
  const [outcome] = await chain.handleOps([{ ...early, paymasterData }])
  expect(outcome).toMatchObject({ success: true, paymaster: tank })
})

test('ten other bytes behind the signature are refused', async () => {
  const sponsored = await chain.sponsor(await chain.draft('odd'), tank)
  for (const suffix of [`0x0040${SUFFIX.slice(6)}`, `${SUFFIX.slice(0, -2)}57`] as Hex[]) {
    const paymasterData = concatHex([sponsored.paymasterData, suffix])
    expect(await askTank(chain, { ...sponsored, paymasterData })).toBe(
      'Tank: paymasterAndData must be 129 bytes',
    )
  }
})
