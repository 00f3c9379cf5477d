import fc from 'fast-check'
import {
  type Address,
  type BaseError,
  concatHex,
  decodeErrorResult,
  encodeFunctionData,
  type Hex,
  parseEventLogs,
  zeroAddress,
} from 'viem'
import { afterAll, expect, test } from 'vitest'
import { tank06, tank07, tankFactoryAddress } from '../../src/chain/contracts/deployments.js'
import { abi as tankAbi } from '../../src/chain/contracts/generated/Tank06.js'
import { abi } from '../../src/chain/contracts/generated/TankFactory.js'
import { address } from '../support/tanks/arbitraryOperation.js'
import { lower, revertDataOf, TARGET } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

type Arguments = readonly [Address, Address, Address, Address, Address, Hex]

const chain = useVersionChain('0.6')
const factory = tankFactoryAddress.address

afterAll(() => chain().anvil.stop())

async function predict(args: Arguments): Promise<Address> {
  return lower(
    await chain().wallet.readContract({ address: factory, abi, functionName: 'predict', args }),
  )
}

function create(args: Arguments) {
  return chain().transact(factory, encodeFunctionData({ abi, functionName: 'create', args }))
}

const salt: fc.Arbitrary<Hex> = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`)

/** Arguments that the factory accepts. */
const tankArguments = fc
  .tuple(fc.constantFrom(tank06.address, tank07.address), address, address, address, salt)
  .map(
    ([implementation, ...rest]) => [implementation, chain().entryPoint.address, ...rest] as const,
  )

test('a tank is where it was predicted, and says what it was made with', () =>
  fc.assert(
    fc.asyncProperty(tankArguments, async (args) => {
      const [implementation, entryPoint, owner, signerA, signerB] = args
      const predicted = await predict(args)
      expect(await chain().wallet.getCode({ address: predicted })).toBeUndefined()
      const { logs } = await create(args)

      const [event, ...others] = parseEventLogs({ abi, logs })
      expect(others).toEqual([])
      expect(event).toMatchObject({ eventName: 'TankCreated', address: factory })
      expect(event?.args.tank.toLowerCase()).toBe(predicted)
      expect(await chain().wallet.getCode({ address: predicted })).toBe(
        concatHex([
          ...(['0x363d3d373d3d3d363d73', implementation] as Hex[]),
          ...(['0x5af43d82803e903d91602b57fd5bf3', entryPoint, owner, signerA, signerB] as Hex[]),
        ]),
      )

      const tank = { address: predicted, abi: tankAbi } as const
      const { wallet } = chain()
      expect(
        [
          await wallet.readContract({ ...tank, functionName: 'entryPoint' }),
          await wallet.readContract({ ...tank, functionName: 'owner' }),
          ...(await wallet.readContract({ ...tank, functionName: 'signers' })),
        ].map(lower),
      ).toEqual([entryPoint, owner, signerA, signerB])
    }),
    { numRuns: 20 },
  ))

test('every argument leads to another address', () =>
  fc.assert(
    fc.asyncProperty(
      tankArguments,
      fc.integer({ min: 0, max: 4 }),
      address,
      salt,
      async (args, index, other, otherSalt) => {
        const predicted = await predict(args)
        const changed = args.map((value, at) => (at === index ? other : value))
        const resalted = [...args.slice(0, 5), otherSalt]
        fc.pre(args[index] !== other && args[5] !== otherSalt)
        expect(await predict(changed as unknown as Arguments)).not.toBe(predicted)
        expect(await predict(resalted as unknown as Arguments)).not.toBe(predicted)
      },
    ),
    { numRuns: 50 },
  ))

test('a second creation returns the same tank, unchanged', async () => {
  const [args] = fc.sample(tankArguments, { numRuns: 1, seed: 3 })
  await create(args!)
  const tank = await predict(args!)
  const nonce = await chain().wallet.getTransactionCount({ address: factory })
  const again = await create(args!)
  expect(again).toMatchObject({ status: 'success', logs: [] })
  expect(await chain().wallet.getTransactionCount({ address: factory })).toBe(nonce)
  const { data } = await chain().wallet.call({
    to: factory,
    data: encodeFunctionData({ abi, functionName: 'create', args: args! }),
  })
  expect(`0x${data?.slice(-40)}`).toBe(tank)
})

test.each([
  ['an implementation without code', 0, TARGET, 'NoCode'],
  ['an EntryPoint without code', 1, TARGET, 'NoCode'],
  ['no owner', 2, zeroAddress, 'NoOwner'],
] as const)('refuses %s', async (_, index, value, errorName) => {
  const [drawn] = fc.sample(tankArguments, { numRuns: 1, seed: 4 })
  const args = drawn!.map((old, at) => (at === index ? value : old)) as unknown as Arguments
  const data = encodeFunctionData({ abi, functionName: 'create', args })
  const failure = await chain()
    .wallet.call({ to: factory, data })
    .catch((error: BaseError) => decodeErrorResult({ abi, data: revertDataOf(error) }))
  expect(failure).toMatchObject({ errorName })
})
