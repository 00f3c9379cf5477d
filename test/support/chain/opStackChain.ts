import { type Address, type Hex, numberToHex, parseEther } from 'viem'
import type { ChainDefinition } from '../../../src/chain/definition/chainDefinition.js'
import type { Database } from '../../../src/db/database.js'
import { nodeKind } from '../nodes/nodeKind.js'
import { openWorld, type World } from '../world/openWorld.js'

const L1_BLOCK: Address = '0x4200000000000000000000000000000000000015'
const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000f'

/** The prices of L1 and of the operator, as the chain's contract L1Block keeps them. */
export type L1Prices = {
  /** wei per gas of L1 */
  readonly l1BaseFee: bigint
  /** wei per blob gas of L1 */
  readonly blobBaseFee: bigint
  /** millionths of a wei per gas */
  readonly operatorScalar?: bigint
  /** wei per transaction */
  readonly operatorConstant?: bigint
}

/** The scalars of Base. */
const BASE_FEE_SCALAR = 2_269n
const BLOB_BASE_FEE_SCALAR = 1_055_762n

/**
 * Estimates, admission and bundling on anvil, or Hardhat's node, as an OP-stack chain: it takes Fjord's fee of every transaction
 * and Isthmus' operator fee, by the prices that a test sets.
 */
export async function startOpStackBundling(
  database: Database,
  changes: Partial<ChainDefinition> = {},
) {
  const definition = { dataFee: 'opStack', ...changes } as const
  const onHardhat = { kind: 'hardhat-op', prepare: payCalls } as const
  const onAnvil = { args: ['--network', 'optimism'], prepare: openOpStack }
  const launch = nodeKind() === 'hardhat-op' ? onHardhat : onAnvil
  const bundling = await openWorld(database, { definition, ...launch })
  return { ...bundling, setL1Prices: (prices: L1Prices) => setL1Prices(bundling.tester, prices) }
}

export type OpStackBundling = Awaited<ReturnType<typeof startOpStackBundling>>

type Tester = World['tester']

/** The stack's contracts, as far as they are read: their storage, and code that answers nothing. */
async function openOpStack(tester: Tester): Promise<void> {
  for (const address of [L1_BLOCK, GAS_PRICE_ORACLE])
    await tester.setCode({ address, bytecode: '0xfe' })
  // Ecotone, Fjord and Isthmus have come.
  await setSlot(tester, GAS_PRICE_ORACLE, 0, 0x010101n)
  await payCalls(tester)
}

/** Both nodes take the fee of calls too, also of those without a sender. */
async function payCalls(tester: Tester): Promise<void> {
  await tester.setBalance({ address: `0x${'00'.repeat(20)}`, value: parseEther('1000') })
}

async function setL1Prices(
  tester: Tester,
  { l1BaseFee, blobBaseFee, operatorScalar = 0n, operatorConstant = 0n }: L1Prices,
): Promise<void> {
  await setSlot(tester, L1_BLOCK, 1, l1BaseFee)
  await setSlot(tester, L1_BLOCK, 3, (BASE_FEE_SCALAR << 96n) | (BLOB_BASE_FEE_SCALAR << 64n))
  await setSlot(tester, L1_BLOCK, 7, blobBaseFee)
  await setSlot(tester, L1_BLOCK, 8, (operatorScalar << 64n) | operatorConstant)
}

async function setSlot(tester: Tester, address: Address, slot: number, value: bigint) {
  const word = (of: bigint | number): Hex => numberToHex(of, { size: 32 })
  await tester.setStorageAt({ address, index: word(slot), value: word(value) })
}
