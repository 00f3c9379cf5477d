import type { Address, Hex } from 'viem'
import { sum } from '../base/bigints.js'
import { TankError } from '../base/errors/sponsorshipErrors.js'
import {
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  tank06,
  tank07,
  tankFactoryAddress,
  tokenTank06,
  tokenTank07,
  tokenTank08,
} from '../chain/contracts/deployments.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { adviseFees } from '../chain/fees.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getCode } from '../chain/nodeReads.js'
import { type SenderContext, sendTransaction } from '../chain/sendTransaction.js'
import type { ExecutorSigner } from '../chain/signing/executorTransaction.js'
import { dataCost } from '../gas/dataGas.js'
import { dataPriceAt } from '../gas/dataPrice.js'

/** One of our contracts on a chain. */
type PlannedContract = {
  readonly name: string
  /** Follows from the code, so it is the same on every chain. */
  readonly address: Address
  /** Absent where the contract is on the chain. */
  readonly missing?: { readonly deployData: Hex; readonly gas: bigint; readonly cost: bigint }
}

export type ContractPlan = {
  readonly contracts: readonly PlannedContract[]
  /** wei at the fees of now, data fees included; 0 where nothing is missing */
  readonly cost: bigint
}

const deployments: Readonly<Record<string, Deployment>> = {
  'tank factory': tankFactoryAddress,
  'gas tank for EntryPoint v0.6': tank06,
  'gas tank for EntryPoint v0.7, v0.8, v0.9': tank07,
  'token tank for EntryPoint v0.6': tokenTank06,
  'token tank for EntryPoint v0.7': tokenTank07,
  'token tank for EntryPoint v0.8, v0.9': tokenTank08,
}

type PlanContext = {
  readonly node: NodeClient
  readonly definition: Pick<ChainDefinition, 'chainId' | 'dataFee' | 'minimumTip'>
}

/**
 * Our contracts on the chain, and what it costs to deploy those that are missing. Changes nothing.
 * @throws TankError where the chain lacks the deterministic deployer; node trouble
 */
export async function planContracts({ node, definition }: PlanContext): Promise<ContractPlan> {
  const { chainId, dataFee } = definition
  if ((await getCode(node, DETERMINISTIC_DEPLOYER)) === '0x')
    throw new TankError(
      `Chain ${chainId} lacks the deployer ${DETERMINISTIC_DEPLOYER}: our contracts can have their addresses only by it.`,
    )
  const head = await node.head()
  const [{ fast }, price] = await Promise.all([
    adviseFees(node, head, definition),
    dataPriceAt(node, dataFee, head),
  ])
  const contracts: PlannedContract[] = []
  for (const [name, { address, deployData }] of Object.entries(deployments)) {
    if ((await getCode(node, address)) !== '0x') {
      contracts.push({ name, address })
      continue
    }
    const call = { to: DETERMINISTIC_DEPLOYER, data: deployData }
    const gas = BigInt(await node.request<Hex>('eth_estimateGas', [call]))
    const data = dataCost(price, { chainId, nonce: 0, gas, ...call, ...fast })
    const cost = gas * (fast.maxFeePerGas + (data?.perGas ?? 0n)) + (data?.wei ?? 0n)
    contracts.push({ name, address, missing: { deployData, gas, cost } })
  }
  return { contracts, cost: sum(contracts.map(({ missing }) => missing?.cost ?? 0n)) }
}

/**
 * Deploys what is missing, one after the other, and calls `onDeployed` for each. After an interruption run it
 * again: contracts that exist are left as they are.
 * @throws NodeRpcError, TransactionFailedError, see `sendTransaction`
 */
export async function deployContracts(
  context: SenderContext,
  { contracts }: ContractPlan,
  payer: ExecutorSigner,
  onDeployed: (contract: PlannedContract, transaction: Hex) => void,
): Promise<void> {
  for (const contract of contracts) {
    if (contract.missing === undefined) continue
    const data = contract.missing.deployData
    const receipt = await sendTransaction(context, payer, { to: DETERMINISTIC_DEPLOYER, data })
    if ((await getCode(context.node, contract.address)) === '0x')
      throw new TankError(`${contract.name} was deployed, but is not at ${contract.address}.`)
    onDeployed(contract, receipt.transactionHash)
  }
}
