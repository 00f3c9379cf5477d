import { type Address, encodeFunctionData, type Hex, hexToBytes, numberToHex, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { dataPriceAt } from '../../src/gas/dataPrice.js'
import { fastLzLength } from '../../src/gas/opStackFees.js'
import { createRandom } from '../evm/random.js'
import { silent } from '../support/logger.js'

import { startNode, type TestNode } from '../support/nodes/startNode.js'
import { randomRuns } from '../support/runs.js'

/*
 * The OP stack's own contracts, as Hardhat's node has them: GasPriceOracle says what a transaction costs, by prices that
 * L1Block keeps. Whatever the prices and the bytes, our formulas on the same storage say the same to the wei.
 */

const L1_BLOCK: Address = '0x4200000000000000000000000000000000000015'
const ORACLE: Address = '0x420000000000000000000000000000000000000f'
const abi = parseAbi([
  'function getL1Fee(bytes data) view returns (uint256)',
  'function getOperatorFee(uint256 gasUsed) view returns (uint256)',
])
/** Bytes of a signature, which the oracle adds to an unsigned transaction. */
const SIGNATURE_BYTES = 68
const NON_ZERO_BYTE_GAS = 16
/** The oracle's flags after Bedrock, Ecotone and Isthmus. */
const flags = { bedrock: 0n, ecotone: 0x01n, isthmus: 0x010101n } as const

let hardhat: TestNode
let node: NodeClient
let tester: ReturnType<typeof anvilClient>

beforeAll(async () => {
  hardhat = await startNode(61_717, 'hardhat-op')
  node = createNodeClient({ urls: [hardhat.rpcUrl], logger: silent })
  tester = anvilClient(hardhat.rpcUrl)
  // The node takes the fee of calls too, also of those without a sender.
  await tester.setBalance({ address: `0x${'00'.repeat(20)}`, value: 10n ** 36n })
})
afterAll(async () => {
  await node?.close()
  await hardhat?.stop()
})

async function store(address: Address, index: number, value: bigint): Promise<void> {
  const word = (of: bigint | number): Hex => numberToHex(of, { size: 32 })
  await tester.setStorageAt({ address, index: word(index), value: word(value) })
}

async function ask(data: Hex): Promise<bigint> {
  return BigInt(await node.request<Hex>('eth_call', [{ to: ORACLE, data }, 'latest']))
}

test.each(Object.entries(flags))(
  'after %s the oracle charges what we compute',
  async (fork, flag) => {
    const random = createRandom(1_717 + Number(flag))
    const upTo = (bits: number): bigint => {
      const value = BigInt(`0x${Buffer.from(random.bytes(8)).toString('hex')}`)
      return value >> BigInt(64 - bits)
    }
    await store(ORACLE, 0, flag)
    for (let run = 0; run < randomRuns(100); run++) {
      await store(L1_BLOCK, 1, upTo(45))
      // The oracle multiplies baseFeeScalar by 16 within 32 bits, which the chain itself does not.
      await store(L1_BLOCK, 3, (upTo(28) << 96n) | (upTo(32) << 64n) | upTo(64))
      await store(L1_BLOCK, 5, upTo(20))
      await store(L1_BLOCK, 6, upTo(30))
      await store(L1_BLOCK, 7, upTo(45))
      await store(L1_BLOCK, 8, (upTo(32) << 64n) | upTo(64))
      await tester.mine({ blocks: 1 })
      const piece = random.bytes(1 + random.below(60))
      const repeated = Array.from({ length: random.below(8) }, () => [...piece]).flat()
      const bytes = Uint8Array.from([...repeated, ...random.bytes(1 + random.below(500))])
      const data: Hex = `0x${Buffer.from(bytes).toString('hex')}`
      const price = (await dataPriceAt(node, 'opStack', await node.head()))!
      const size =
        fork === 'isthmus'
          ? fastLzLength(hexToBytes(data)) + SIGNATURE_BYTES
          : price.sizeOf(bytes) + SIGNATURE_BYTES * NON_ZERO_BYTE_GAS
      const getL1Fee = encodeFunctionData({ abi, functionName: 'getL1Fee', args: [data] })
      expect(await ask(getL1Fee), data).toBe(price.feeOf(size))
      if (fork !== 'isthmus') continue
      const gasUsed = upTo(24)
      const getOperatorFee = encodeFunctionData({
        abi,
        functionName: 'getOperatorFee',
        args: [gasUsed],
      })
      expect(await ask(getOperatorFee)).toBe(price.operatorFeeOf(gasUsed))
    }
  },
)
