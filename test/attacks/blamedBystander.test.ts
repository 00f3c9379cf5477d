import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseEther,
  parseGwei,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { banForFailures } from '../../src/bundler/assemble/failures.js'
import { passSimulation } from '../../src/bundler/assemble/steps.js'
import type { AaCode } from '../../src/erc4337/entryPoint.js'
import { readReputations } from '../../src/mempool/pool/reputations.js'
import { compileSolidity } from '../support/chain/compileSolidity.js'
import { useFreshWorld } from '../support/world.js'

/*
 * The attacker makes an honest operation fail in the same bundle, so that its staked entity is banned for everybody: it holds
 * memory that makes the validation behind it need more gas, or uses up the gas of the bundle.
 */
const world = useFreshWorld()

/** Whether the staked account of a pooled operation is banned for a failure with this code. */
async function isBanned(code: AaCode, wasAlone: boolean): Promise<boolean> {
  const chain = world()
  const account = await chain.createAccount()
  await chain.tester.impersonateAccount({ address: account })
  await chain.tester.setBalance({ address: account, value: 10n ** 18n })
  const abi = parseAbi(['function addStake(uint32) payable'])
  await chain.anvil.send({
    from: account,
    to: chain.entryPoint.address,
    data: encodeFunctionData({ abi, args: [86_400] }),
    value: '0x10',
  })
  const stored = await chain.stored(await chain.admit(chain.operation(account)))
  const context = { ...chain.context, rules: { ...chain.context.rules, mode: 'full' as const } }
  const failure = { index: 0, code, message: code, revertData: '0x' } as const
  await banForFailures(context, chain.entryPoint, [{ stored, failure }], wasAlone)
  const { chainId } = chain.definition
  const known = await readReputations(chain.database, chainId, chain.entryPoint.address, false)
  return known.some(({ address, opsSeen }) => address === account && opsSeen > 1_000)
}

test.each(['AA26', 'AA40'] as const)(
  '%s in a bundle with others bans nobody; alone on the chain it does',
  async (code) => {
    expect(await isBanned(code, false)).toBe(false)
    expect(await isBanned(code, true)).toBe(true)
  },
)

test('a code that others cannot cause bans in either case', async () => {
  expect(await isBanned('AA23', false)).toBe(true)
  expect(await isBanned('AA23', true)).toBe(true)
})

/** A paymaster of v0.6 that calls the address behind its own with the byte behind that, and approves if it may. */
const calling = compileSolidity(`contract Calling {
  struct UserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData;
    uint256 callGasLimit; uint256 verificationGasLimit; uint256 preVerificationGas;
    uint256 maxFeePerGas; uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature;
  }
  function validatePaymasterUserOp(UserOperation calldata op, bytes32, uint256)
    external returns (bytes memory, uint256)
  {
    address target = address(bytes20(op.paymasterAndData[20:40]));
    (bool ok,) = target.call(op.paymasterAndData[40:41]);
    require(ok, "broken");
    return ("", 0);
  }
}`).Calling!

/** Call data 01 makes the transaction fail for a caller that asks with 00; 02 does both. */
const spoilable = compileSolidity(
  `contract Spoilable {
    fallback(bytes calldata data) external returns (bytes memory) {
      uint256 broken;
      assembly { broken := tload(0) }
      require(broken == 0 || data[0] == 0x01);
      if (data[0] != 0x00) assembly { tstore(0, 1) }
      return "";
    }
  }`,
  'cancun',
).Spoilable!

describe('of two operations of which each passes alone', () => {
  const STAKE = 10n ** 18n
  const placeAt = async (address: Address, bytecode: Hex): Promise<Address> => {
    await world().tester.setCode({ address, bytecode })
    return address
  }
  const placePaymaster = async (address: Address): Promise<Address> => {
    const chain = world()
    await placeAt(address, calling.runtime)
    await chain.tester.impersonateAccount({ address })
    await chain.tester.setBalance({ address, value: 3n * STAKE })
    const to = chain.entryPoint.address
    const abi = parseAbi([
      'function addStake(uint32) payable',
      'function depositTo(address) payable',
    ])
    const stake = encodeFunctionData({ abi, functionName: 'addStake', args: [86_400] })
    await chain.anvil.send({ from: address, to, data: stake, value: '0x10' })
    const deposit = encodeFunctionData({ abi, functionName: 'depositTo', args: [address] })
    await chain.anvil.send({ from: address, to, data: deposit, value: '0xde0b6b3a7640000' })
    return address
  }
  const shared = () => placeAt(`0x${'5a'.repeat(20)}`, spoilable.runtime)

  /** Simulates both as a bundle with all rules; the paymasters that are banned for it. */
  const bannedFor = async (ops: readonly { paymaster: Address; does: Hex }[]) => {
    const chain = world()
    const target = await shared()
    const valid = []
    for (const { paymaster, does } of ops) {
      const op = chain.operation(await chain.createAccount(), {
        paymaster,
        paymasterData: concatHex([target, does]),
        verificationGasLimit: 200_000n,
        preVerificationGas: 60_000n,
      })
      valid.push(await chain.stored(await chain.admit(op)))
    }
    const context = { ...chain.context, rules: { ...chain.context.rules, mode: 'full' as const } }
    const { entryPoint } = chain
    const head = await chain.heads.refresh()
    const executor = chain.executors[0]!.address
    const assembly = {
      head,
      executor,
      beneficiary: executor,
      creationGas: 0n,
      entryPoint,
      waiting: new Set<Hex>(),
      open: [],
      funds: parseEther('1'),
    }
    const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }
    const kept = await passSimulation(context, assembly, fees, valid)
    expect(kept).toHaveLength(1)
    const { chainId } = chain.definition
    const known = await readReputations(chain.database, chainId, entryPoint.address, false)
    return known.filter(({ opsSeen }) => opsSeen > 1_000).map(({ address }) => address)
  }

  test('nobody is banned where one order passes: the one in front may have broken the other', async () => {
    const honest = await placePaymaster(`0x${'a1'.repeat(20)}`)
    const attacker = await placePaymaster(`0x${'b2'.repeat(20)}`)
    expect(
      await bannedFor([
        { paymaster: attacker, does: '0x01' },
        { paymaster: honest, does: '0x00' },
      ]),
    ).toEqual([])
  })

  test('their paymaster is banned where each fails behind the other', async () => {
    const paymaster = await placePaymaster(`0x${'c3'.repeat(20)}`)
    const does = '0x02'
    expect(
      await bannedFor([
        { paymaster, does },
        { paymaster, does },
      ]),
    ).toEqual([paymaster])
  })

  test('two paymasters that break each other ban neither', async () => {
    const [one, other] = [`0x${'d4'.repeat(20)}`, `0x${'e5'.repeat(20)}`] as const
    for (const address of [one, other]) await placePaymaster(address)
    const does = '0x02'
    expect(
      await bannedFor([
        { paymaster: one, does },
        { paymaster: other, does },
      ]),
    ).toEqual([])
  })
})
