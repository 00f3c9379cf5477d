import { type Address, concatHex, type Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Operation } from '../../src/erc4337/operation.js'
import { signSponsorship } from '../../src/paymaster/sponsor/signSponsorship.js'
import { encodeLateTankData } from '../../src/paymaster/tank/tankData.js'
import { stubSignature } from '../../src/gas/placeholder.js'
import { askTank } from '../support/tanks/tankCalls.js'
import { lower, SIGNER_A } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

/** Length of the signature and v0.9's mark of a paymasterSignature. */
const SUFFIX: Hex = '0x004122e325a297439656'

const chain = useVersionChain('0.9')
let tank: Address

beforeAll(async () => {
  tank = await chain().createTank(0)
})

afterAll(() => chain().anvil.stop())

const range = { validUntil: 0, validAfter: 0 }

/** The operation of `seed` as the account signs it, before the tank has signed. */
async function signedEarly(seed: string): Promise<Operation & { paymaster: Address }> {
  const { paymasterVerificationGasLimit } = await chain().sponsor(
    await chain().accountDraft(seed),
    tank,
  )
  const paymasterData = encodeLateTankData(range, stubSignature)
  const paid = { paymaster: tank, paymasterVerificationGasLimit, paymasterData }
  const unsigned = { ...(await chain().accountDraft(seed)), ...paid }
  return { ...(await chain().sign(unsigned, seed)), paymaster: tank }
}

function signed(op: Operation & { paymaster: Address }): Operation {
  const signer = { key: SIGNER_A, address: lower(privateKeyToAddress(SIGNER_A)) }
  const { entryPoint, chainId } = chain()
  return signSponsorship(op, { entryPoint, chainId }, range, signer)
}

test('the tank may sign after the account (v0.9 paymasterSignature)', async () => {
  const early = await signedEarly('early')
  expect(await chain().failureOf([early])).toMatch(/^AA34/)
  const [outcome] = await chain().handleOps([signed(early)])
  expect(outcome).toMatchObject({ success: true, paymaster: tank })
})

test('a signature for one form does not hold in the other', async () => {
  const late = signed(await signedEarly('late'))
  const cut = late.paymasterData.slice(0, -20) as Hex
  expect(await askTank(chain(), late)).toMatchObject({ authorizer: 0n })
  expect(await askTank(chain(), { ...late, paymasterData: cut })).toMatchObject({ authorizer: 1n })
  const plain = await chain().sponsor(await chain().accountDraft('plain'), tank)
  const grown = concatHex([plain.paymasterData, SUFFIX])
  expect(await askTank(chain(), plain)).toMatchObject({ authorizer: 0n })
  expect(await askTank(chain(), { ...plain, paymasterData: grown })).toMatchObject({
    authorizer: 1n,
  })
})

test('ten other bytes behind the signature are refused', async () => {
  const sponsored = await chain().sponsor(await chain().accountDraft('odd'), tank)
  for (const suffix of [`0x0040${SUFFIX.slice(6)}`, `${SUFFIX.slice(0, -2)}57`] as Hex[]) {
    const paymasterData = concatHex([sponsored.paymasterData, suffix])
    expect(await askTank(chain(), { ...sponsored, paymasterData })).toBe(
      'Tank: paymasterAndData must be 129 bytes',
    )
  }
})
