import { type Address, concatHex, encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import type { EntryPoint, Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { compileSolidity } from '../support/chain/compileSolidity.js'
import { type ComplianceChain, openComplianceChain } from '../support/chain/complianceChain.js'
import { type Scenario, scenarioOperations } from '../support/erc7562/scenario.js'
import type { Json } from '../support/http/jsonRpc.js'

const VERSIONS: readonly Version[] = ['0.6', '0.9']

/** Valid once in each transaction; `data` is forwarded, so that it can stake. */
const fickle = compileSolidity(
  `contract Fickle {
    constructor() payable {}
    receive() external payable {}
    function forward(address to, uint256 value, bytes calldata data) external {
      (bool ok,) = to.call{value: value}(data);
      require(ok);
    }
    fallback(bytes calldata) external returns (bytes memory) {
      uint256 used;
      assembly { used := tload(0) tstore(0, 1) }
      require(used == 0, "once");
      return abi.encode(uint256(64), uint256(0), uint256(0));
    }
  }`,
  'cancun',
).Fickle!

/** A paymaster whose context is as long as it was set. */
const wavering = compileSolidity(`contract Wavering {
  uint256 words = 1;
  constructor() payable {}
  receive() external payable {}
  function forward(address to, uint256 value, bytes calldata data) external {
    (bool ok,) = to.call{value: value}(data);
    require(ok);
  }
  function lengthen() external { words++; }
  fallback(bytes calldata) external returns (bytes memory) {
    return abi.encode(new bytes(words * 32), uint256(0));
  }
}`).Wavering!

const withdrawal = parseAbi(['function withdrawTo(address to, uint256 amount)'])

/** Initcode of a contract that reverts. */
const refusing: Hex = '0x625f5ffd5f526003601df3'

let chain: ComplianceChain
let accounts = 0

beforeAll(async () => {
  chain = await openComplianceChain(VERSIONS)
  await chain.debug('setBundlingMode', 'manual')
})
afterAll(() => chain?.stop())

describe.each(VERSIONS)('reputation at EntryPoint v%s', (version) => {
  let entryPoint: EntryPoint
  let factory: Address
  let paymaster: Address
  const packed = version !== '0.6'

  beforeAll(async () => {
    entryPoint = chain.entryPoints.get(version)!
  })
  beforeEach(async () => {
    await chain.debug('clearState')
    factory = await chain.createActor(entryPoint)
    paymaster = await chain.createActor(entryPoint)
  })

  /** An operation of a new account, or of `account`. */
  async function operation(scenario: Scenario = {}, account?: Address): Promise<Operation> {
    const sender = account ?? (await chain.createActor(entryPoint))
    const op = scenarioOperations({ account: sender, factory, paymaster, packed }).operation(
      scenario,
    )
    if (op.factory) await chain.deposit(entryPoint, op.sender)
    return op
  }
  const paid: Scenario = { paymaster: { what: 'CHAINID' } }

  const admit = async (op: Operation): Promise<Hex> => {
    const { result, error } = await chain.send(entryPoint, op)
    expect(error).toBeUndefined()
    return result
  }
  const refused = async (op: Operation) => (await chain.send(entryPoint, op)).error
  const pool = (): Promise<Json[]> => chain.debug('dumpMempool', entryPoint.address)
  const receipt = (hash: Hex) => chain.call('eth_getUserOperationReceipt', hash)
  const reputation = async (address: Address) => {
    const all: Json[] = await chain.debug('dumpReputation', entryPoint.address)
    const found = all.find((each) => each.address.toLowerCase() === address)
    if (!found) return [0, 0, 0]
    return [found.opsSeen, found.opsIncluded, found.status].map(Number)
  }
  const setReputation = (address: Address, opsSeen: number, opsIncluded: number) =>
    chain.debug(
      'setReputation',
      [{ address, opsSeen: numberToHex(opsSeen), opsIncluded: numberToHex(opsIncluded) }],
      entryPoint.address,
    )

  /** Stakes while the pool is empty; the service has seen it then. */
  const stake = async (account: Address): Promise<void> => {
    await chain.stake(entryPoint, account)
    await chain.debug('sendBundleNow')
  }
  /** Sets whose code an account runs, as an EIP-7702 authorization does. */
  const delegate = async (account: Address, to: Address): Promise<void> => {
    await chain.anvil.request('anvil_setCode', [account, concatHex(['0xef0100', to])])
    await chain.anvil.request('evm_mine', [])
  }
  const createDelegating = async (): Promise<Address> => {
    const account = numberToHex(0x7702_0000_0000 + ++accounts, { size: 20 })
    await delegate(account, await chain.createActor(entryPoint))
    await chain.anvil.send({ to: account, value: numberToHex(2n * 10n ** 18n) })
    await chain.deposit(entryPoint, account)
    return account
  }

  test('is described where it is served', async () => {
    const { methods } = await chain.call('rpc.discover')
    expect(methods.map(({ name }: Json) => name)).toContain('debug_bundler_dumpReputation')
  })

  test('counts what is seen and what is included', async () => {
    const hash = await admit(await operation({ ...paid, deploys: {} }))
    expect(await reputation(paymaster)).toEqual([1, 0, 0])
    expect(await reputation(factory)).toEqual([1, 0, 0])
    await chain.debug('sendBundleNow')
    expect(await receipt(hash)).toMatchObject({ success: true })
    expect(await reputation(paymaster)).toEqual([1, 1, 0])
    expect(await reputation(factory)).toEqual([1, 1, 0])
    expect(await pool()).toEqual([])
  })

  test('counts an account only when it is staked', async () => {
    const unstaked = await chain.createActor(entryPoint)
    const staked = await chain.createActor(entryPoint)
    await stake(staked)
    await admit(await operation({}, unstaked))
    await admit(await operation({}, staked))
    expect(await reputation(unstaked)).toEqual([0, 0, 0])
    expect(await reputation(staked)).toEqual([1, 0, 0])
    const { stakeInfo, isStaked } = await chain.debug('getStakeStatus', staked, entryPoint.address)
    expect({ stakeInfo, isStaked }).toMatchObject({
      stakeInfo: { stake: (10n ** 18n).toString(), unstakeDelaySec: '2' },
      isStaked: true,
    })
  })

  test('moves the count to the entity that replaces another (GREP-050)', async () => {
    const account = await chain.createActor(entryPoint)
    const first = await operation(paid, account)
    await admit(first)
    const other = paymaster
    paymaster = await chain.createActor(entryPoint)
    const higherFees = { maxFeePerGas: (first.maxFeePerGas * 11n) / 10n }
    const tip = { maxPriorityFeePerGas: (first.maxPriorityFeePerGas * 11n) / 10n }
    await admit(await operation({ ...paid, fields: { ...higherFees, ...tip } }, account))
    expect(await reputation(other)).toEqual([0, 0, 0])
    expect(await reputation(paymaster)).toEqual([1, 0, 0])
  })

  test('dumps operations as they were submitted', async () => {
    const op = await operation({ ...paid, deploys: {} })
    await admit(op)
    const [dumped] = await pool()
    expect(dumped).toMatchObject({ sender: op.sender, nonce: '0x0', signature: '0x' })
    expect(dumped.maxFeePerGas).toBe(numberToHex(op.maxFeePerGas))
  })

  test('refuses and removes operations of a banned entity (GREP-010)', async () => {
    await admit(await operation(paid))
    await setReputation(paymaster, 100_000, 0)
    expect((await reputation(paymaster))[2]).toBe(2)
    expect(await refused(await operation(paid))).toMatchObject({
      code: -32504,
      data: { paymaster },
    })
    await chain.debug('sendBundleNow')
    expect(await pool()).toEqual([])
  })

  test('lets a throttled entity have four operations (GREP-020)', async () => {
    await setReputation(paymaster, 300, 0)
    for (let i = 0; i < 4; i++) await admit(await operation(paid))
    expect(await refused(await operation(paid))).toMatchObject({ code: -32504 })
  })

  test('lets an unstaked sender have four operations, a staked one more (UREP-010)', async () => {
    const account = await chain.createActor(entryPoint)
    const keyed = (key: bigint) => operation({ fields: { nonce: key << 64n } }, account)
    for (const key of [0n, 1n, 2n, 3n]) await admit(await keyed(key))
    expect(await refused(await keyed(4n))).toMatchObject({ code: -32505, data: { account } })
    await chain.stake(entryPoint, account)
    await admit(await keyed(4n))
  })

  test.runIf(packed)('refuses another delegate of an account that waits (AUTH-040)', async () => {
    const owner = privateKeyToAccount(keyFromSeed('delegates by JSON-RPC'))
    const account = owner.address.toLowerCase() as Address
    await chain.deposit(entryPoint, account)
    const delegating = async (key: bigint, address: Address): Promise<Operation> => {
      const chainId = Number(await chain.call('eth_chainId'))
      const { r, s, yParity } = await owner.signAuthorization({ address, chainId, nonce: 0 })
      const authorization = { address, chainId, nonce: 0n, r, s, yParity: yParity as 0 | 1 }
      const fields = { nonce: key << 64n, verificationGasLimit: 900_000n }
      return { ...(await operation({ fields }, account)), authorization }
    }
    const first = await chain.createActor(entryPoint)
    const other = await chain.createActor(entryPoint)
    await admit(await delegating(0n, first))
    const error = await refused(await delegating(1n, other))
    expect(error).toMatchObject({ code: -32502, message: expect.stringContaining('AUTH-040') })
    await admit(await delegating(1n, first))
  })

  test('lets an unstaked paymaster have ten operations, a staked one more (UREP-020)', async () => {
    const small: Scenario = { ...paid, fields: { verificationGasLimit: 200_000n } }
    for (let i = 0; i < 10; i++) await admit(await operation(small))
    expect(await refused(await operation(small))).toMatchObject({
      code: -32505,
      message: expect.stringContaining('UREP-020'),
      data: { paymaster, limit: 10 },
    })
    await chain.stake(entryPoint, paymaster)
    await admit(await operation(small))
  })

  test('drops what has a context of another length in its bundle, and blames the paymaster (EREP-055)', async () => {
    paymaster = await chain.create(wavering.bytecode, 2n * 10n ** 18n)
    await chain.deposit(entryPoint, paymaster)
    await chain.stakeBy(entryPoint, paymaster, wavering.abi)
    await chain.debug('sendBundleNow')
    const hash = await admit(await operation(paid))
    const data = encodeFunctionData({ abi: wavering.abi, functionName: 'lengthen' })
    await chain.anvil.send({ to: paymaster, data })
    await chain.debug('sendBundleNow')
    expect(await pool()).toEqual([])
    expect(await chain.call('biconomy_getUserOperationStatus', hash)).toMatchObject({
      message: expect.stringContaining('context changed from 32 to 64 bytes'),
    })
    expect(await reputation(paymaster)).toEqual([1, 0, 0])
  })

  test('names the throttle of a sender before its number of operations (SREP-030, UREP-010)', async () => {
    const account = await chain.createActor(entryPoint)
    const keyed = (key: bigint) => operation({ fields: { nonce: key << 64n } }, account)
    for (const key of [0n, 1n, 2n, 3n]) await admit(await keyed(key))
    await setReputation(account, 300, 0)
    expect(await refused(await keyed(4n))).toMatchObject({ code: -32504, data: { account } })
  })

  test('keeps senders and other entities apart (STO-040)', async () => {
    await admit(await operation(paid))
    const error = await refused(await operation({}, paymaster))
    const words =
      'is used as a different entity in another UserOperation currently in mempool (STO-040)'
    expect(error).toMatchObject({ code: -32502, message: expect.stringContaining(words) })
  })

  test('bundles apart an operation that uses storage of another sender (STO-041)', async () => {
    const [one, other] = [await chain.createActor(entryPoint), await chain.createActor(entryPoint)]
    const act = { what: 'SLOAD OF', how: 'CALL', via: other, subject: one } as const
    const using = await admit(await operation({ account: act }, one))
    const used = await admit(await operation({}, other))
    await chain.debug('sendBundleNow')
    expect(await receipt(used)).not.toBeNull()
    expect(await receipt(using)).toBeNull()
    expect(await pool()).toHaveLength(1)
    await chain.debug('sendBundleNow')
    expect(await receipt(using)).not.toBeNull()
  })

  test('drops what uses code that changed (COD-010)', async () => {
    const account = await createDelegating()
    const hash = await admit(await operation({}, account))
    await delegate(account, await chain.createActor(entryPoint))
    await chain.debug('sendBundleNow')
    expect(await pool()).toEqual([])
    expect(await receipt(hash)).toBeNull()
  })

  describe('when the account fails at the second validation', () => {
    const fail = async (account: Address) => {
      await delegate(account, await chain.create(refusing))
      await chain.debug('sendBundleNow')
      expect(await pool()).toEqual([])
    }

    test('nobody is blamed for an unstaked one, and its paymaster is as before', async () => {
      const account = await createDelegating()
      await setReputation(paymaster, 7, 3)
      await admit(await operation(paid, account))
      expect(await reputation(paymaster)).toEqual([8, 3, 0])
      await fail(account)
      expect(await reputation(paymaster)).toEqual([7, 3, 0])
      expect(await reputation(account)).toEqual([0, 0, 0])
    })

    test('a staked one is blamed', async () => {
      const account = await createDelegating()
      await stake(account)
      await admit(await operation(paid, account))
      expect(await reputation(account)).toEqual([1, 0, 0])
      await fail(account)
      expect(await reputation(account)).toEqual([1, 0, 0])
      expect(await reputation(paymaster)).toEqual([0, 0, 0])
    })
  })

  describe('when the paymaster fails at the second validation', () => {
    const fail = async () => {
      const args = [paymaster, 10n ** 18n] as const
      const data = encodeFunctionData({ abi: withdrawal, functionName: 'withdrawTo', args })
      await chain.act(paymaster, { what: 'CALL', subject: entryPoint.address, data })
      await chain.debug('sendBundleNow')
      expect(await pool()).toEqual([])
    }

    test('it is blamed for each operation', async () => {
      await admit(await operation(paid))
      await admit(await operation(paid))
      expect(await reputation(paymaster)).toEqual([2, 0, 0])
      await fail()
      expect(await reputation(paymaster)).toEqual([2, 0, 0])
    })

    test('a staked account is blamed for it', async () => {
      const account = await chain.createActor(entryPoint)
      await stake(account)
      await admit(await operation(paid, account))
      await fail()
      expect(await reputation(paymaster)).toEqual([0, 0, 0])
      expect(await reputation(account)).toEqual([1, 0, 0])
    })
  })

  test('bans who makes a bundle fail after it was found valid (GREP-040)', async () => {
    paymaster = await chain.create(fickle.bytecode, 2n * 10n ** 18n)
    await chain.deposit(entryPoint, paymaster)
    await chain.stakeBy(entryPoint, paymaster, fickle.abi)
    await chain.debug('sendBundleNow')
    // So that both fit into one bundle.
    const small: Scenario = { ...paid, fields: { verificationGasLimit: 500_000n } }
    const hashes = [await admit(await operation(small)), await admit(await operation(small))]
    await chain.debug('sendBundleNow')
    const [seen, , status] = await reputation(paymaster)
    expect(seen).toBeGreaterThanOrEqual(10_000)
    expect(status).toBe(2)
    await chain.debug('sendBundleNow')
    expect(await pool()).toEqual([])
    const receipts = await Promise.all(hashes.map(receipt))
    expect(receipts.filter((each) => each !== null)).toHaveLength(1)
  })
})
