import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EntryPoint, Version } from '../../src/erc4337/entryPoint.js'
import { compileSolidity } from '../support/chain/compileSolidity.js'
import { type ComplianceChain, openComplianceChain } from '../support/chain/complianceChain.js'
import { scenarioOperations } from '../support/erc7562/scenario.js'
import type { Json } from '../support/http/jsonRpc.js'
import { until } from '../support/until.js'

const VERSIONS: readonly Version[] = ['0.6', '0.9']

/** Pays for every operation, after it has read and written storage that is warm for a second one. */
function paying(work: string) {
  return compileSolidity(
    `contract Paying {
      uint256[8] rates;
      uint256 total;
      constructor() payable {}
      receive() external payable {}
      function forward(address to, uint256 value, bytes calldata data) external {
        (bool ok,) = to.call{value: value}(data);
        require(ok);
      }
      fallback(bytes calldata) external returns (bytes memory) {
        uint256 used;
        assembly { used := tload(0) tstore(0, 1) }
        uint256 sum = used;
        ${work}
        total += sum;
        return abi.encode(uint256(64), uint256(0), uint256(0));
      }
    }`,
    'cancun',
  ).Paying!
}

const contracts = {
  /** Only the first operation of a transaction, which each one is in its own validation, costs much. */
  thrifty: paying('if (used == 0) for (uint256 i = 0; i < 300; i++) sum += i;'),
  /** Always the same work, cold or warm. */
  steady: paying('for (uint256 i = 0; i < 8; i++) sum += rates[i] + i;'),
}

let chain: ComplianceChain

beforeAll(async () => {
  chain = await openComplianceChain(VERSIONS)
  await chain.debug('setBundlingMode', 'manual')
})
afterAll(() => chain?.stop())

describe.each(VERSIONS)('a staked paymaster of EntryPoint v%s', (version) => {
  let entryPoint: EntryPoint

  beforeAll(() => {
    entryPoint = chain.entryPoints.get(version)!
  })

  /** Outcomes that were counted, with how often. */
  const compared = async () =>
    (await chain.metrics())
      .split('\n')
      .filter((line) => line.startsWith('purser_bundle_gas_compared_total{'))

  const createPaymaster = async ({ bytecode, abi }: typeof contracts.steady) => {
    const paymaster = await chain.create(bytecode, 2n * 10n ** 18n)
    await chain.deposit(entryPoint, paymaster)
    await chain.stakeBy(entryPoint, paymaster, abi)
    // The service has seen the stake then.
    await chain.debug('sendBundleNow')
    return paymaster
  }

  const admit = async (paymaster: Address): Promise<Hex> => {
    const account = await chain.createActor(entryPoint)
    const actors = { account, factory: account, paymaster, packed: version !== '0.6' }
    const op = scenarioOperations(actors).operation({
      paymaster: { what: 'CHAINID' },
      fields: { verificationGasLimit: 500_000n },
    })
    const { result, error } = await chain.send(entryPoint, op)
    expect(error).toBeUndefined()
    return result
  }

  /** Has one bundle mined with `count` operations; what was counted of it. */
  const bundle = async (paymaster: Address, count: number): Promise<string> => {
    const hashes: Hex[] = []
    for (let i = 0; i < count; i++) hashes.push(await admit(paymaster))
    const before = await compared()
    await chain.debug('sendBundleNow')
    const receipts: Json[] = await Promise.all(
      hashes.map((hash) => chain.call('eth_getUserOperationReceipt', hash)),
    )
    expect(new Set(receipts.map((each) => each.receipt.transactionHash)).size).toBe(1)
    return until(async () => {
      const line = (await compared()).find((each) => !before.includes(each))
      return line && /outcome="(\w+)"/.exec(line)?.[1]
    })
  }

  const reputation = async (address: Address) => {
    const all: Json[] = await chain.debug('dumpReputation', entryPoint.address)
    const found = all.find((each) => each.address.toLowerCase() === address)
    return { included: Number(found.opsIncluded), status: Number(found.status) }
  }

  test('that uses less gas in a bundle than alone is throttled (EREP-070)', async () => {
    const paymaster = await createPaymaster(contracts.thrifty)
    expect(await bundle(paymaster, 1)).toBe('fair')
    expect(await reputation(paymaster)).toEqual({ included: 1, status: 0 })
    expect(await bundle(paymaster, 3)).toBe('saved')
    expect(await reputation(paymaster)).toEqual({ included: 4, status: 1 })
    expect(await chain.metrics()).not.toContain('debug_traceTransaction')
  })

  test('for which others only warmed its storage is not', async () => {
    const paymaster = await createPaymaster(contracts.steady)
    expect(await bundle(paymaster, 3)).toBe('fair')
    expect(await reputation(paymaster)).toEqual({ included: 3, status: 0 })
  })
})
