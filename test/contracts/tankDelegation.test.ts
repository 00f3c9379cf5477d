import fc from 'fast-check'
import { type Address, concatHex, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DETERMINISTIC_DEPLOYER, deployment } from '../../src/chain/contracts/deployments.js'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { DELEGATION_MARKER } from '../../src/erc4337/delegation.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { sponsorshipHash } from '../../src/paymaster/tank/sponsorshipHash.js'
import { address, bytes, operation, timeRange } from '../support/tanks/arbitraryOperation.js'
import { askTank, hashFromTank } from '../support/tanks/tankCalls.js'
import { lower, TARGET } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

const chain = useVersionChain('0.8')
let tank: Address
let delegate: Address

beforeAll(async () => {
  tank = await chain().createTank(0)
  const { default: artifact } = await import(
    'account-abstraction-v08/artifacts/Simple7702Account.json',
    { with: { type: 'json' } }
  )
  const account = deployment(artifact.bytecode as Hex)
  await chain().transact(DETERMINISTIC_DEPLOYER, account.deployData)
  delegate = account.address
})

afterAll(() => chain().anvil.stop())

function delegateTo(sender: Address, target: Address) {
  return anvilClient(chain().anvil.url).setCode({
    address: sender,
    bytecode: concatHex(['0xef0100', target]),
  })
}

test('a tank pays for the operation that delegates its sender (EIP-7702)', async () => {
  const owner = privateKeyToAccount(keyFromSeed('delegated'))
  const signed = await owner.signAuthorization({
    address: delegate,
    chainId: chain().chainId,
    nonce: 0,
  })
  const draft: Operation = {
    ...(await chain().accountDraft('delegated')),
    sender: lower(owner.address),
    factory: DELEGATION_MARKER,
    factoryData: '0x',
    authorization: { ...signed, nonce: 0n, yParity: signed.yParity as 0 | 1 },
  }
  const op = await chain().sign(await chain().sponsor(draft, tank), 'delegated')
  const before = await chain().depositOf(tank)
  const hash = await chain().wallet.sendTransaction({
    to: chain().entryPoint.address,
    data: chain().entryPoint.encodeHandleOps([op], TARGET),
    authorizationList: [signed],
    gas: 2_000_000n,
  })
  const { logs } = await chain().wallet.waitForTransactionReceipt({ hash })
  const [outcome] = chain().entryPoint.decodeOutcomes(logs)
  expect(outcome).toMatchObject({ success: true, sender: op.sender, paymaster: tank })
  expect(before - (await chain().depositOf(tank))).toBe(outcome!.actualGasCost)
})

test('a sponsorship holds for one delegate only', async () => {
  const [drawn] = fc.sample(operation, { numRuns: 1, seed: 5 })
  const op = { ...drawn!, factory: DELEGATION_MARKER }
  await delegateTo(op.sender, delegate)
  const sponsored = await chain().sponsor(op, tank, { delegate })
  expect(await askTank(chain(), sponsored)).toMatchObject({ authorizer: 0n })
  await delegateTo(op.sender, TARGET)
  expect(await askTank(chain(), sponsored)).toMatchObject({ authorizer: 1n })
})

test('contract and service hash every delegated operation alike', () =>
  fc.assert(
    fc.asyncProperty(operation, address, bytes, timeRange, async (drawn, target, data, range) => {
      const op = { ...drawn, factory: DELEGATION_MARKER, factoryData: data, paymaster: tank }
      await delegateTo(op.sender, target)
      const hash = sponsorshipHash(op, chain().entryPoint, chain().chainId, range, target)
      expect(await hashFromTank(chain(), op, range)).toBe(hash)
    }),
    { numRuns: 30 },
  ))

test('a marker without a delegation is refused', async () => {
  const [drawn] = fc.sample(operation, { numRuns: 1, seed: 6 })
  const op = { ...drawn!, factory: DELEGATION_MARKER, paymaster: tank }
  await expect(hashFromTank(chain(), op, { validUntil: 0, validAfter: 0 })).rejects.toThrow(
    /NotDelegated/,
  )
})
