import {
  type Address,
  createTestClient,
  type Hash,
  type Hex,
  http,
  publicActions,
  RpcError,
  size,
} from 'viem'
import {
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  tank06,
  tank07,
  tankFactoryAddress,
  tokenTank06,
  tokenTank07,
  tokenTank08,
} from '../../chain/contracts/deployments.js'
import type { Version } from '../../erc4337/entryPoint.js'
import { type Fork, rulesByFork } from '../../evm/index.js'
import { DevChainError } from './devChainError.js'
import {
  type DevContracts,
  devContracts,
  devVersions,
  missingPackages,
  type Placement,
  packageSpec,
} from './devContracts.js'
import { type DevToken, devTokens } from './devTokens.js'
import { type DevWallet, devWallet } from './devWallet.js'

/** An EntryPoint version that the chain does not carry. */
export type AbsentVersion = { readonly version: Version; readonly reason: string }

export type DeployedContracts = {
  readonly entryPoints: Partial<Record<Version, Address>>
  /** SimpleAccountFactory of each EntryPoint. */
  readonly factories: Partial<Record<Version, Address>>
  /** Simple7702Account of each EntryPoint that knows EIP-7702. */
  readonly delegates: Partial<Record<Version, Address>>
  readonly tankFactory: Address
  /** To pay for gas with; see DevToken.sol. */
  readonly tokens: readonly DevToken[]
  readonly absent: readonly AbsentVersion[]
}

const purserContracts: readonly Deployment[] = [
  tankFactoryAddress,
  tank06,
  tank07,
  tokenTank06,
  tokenTank07,
  tokenTank08,
  ...devTokens,
]

/**
 * Puts each EntryPoint at its canonical address, its account contracts, our tank contracts and two
 * tokens on a development chain; what is there already stays. A version is absent when its packages are not
 * installed, or when the node does not let us place code that it needs.
 * @throws DevChainError when the chain lacks the deterministic deployer or refuses a deployment
 */
export async function deployDevContracts(
  rpcUrl: string,
  versions: readonly Version[] = devVersions,
): Promise<DeployedContracts> {
  const carried: DevContracts[] = []
  const absent: AbsentVersion[] = []
  for (const version of versions) {
    const packages = missingPackages(version)
    if (packages.length > 0) {
      const command = `npm install ${packages.map(packageSpec).join(' ')}`
      absent.push({ version, reason: `not installed: ${command}` })
      continue
    }
    const contracts = devContracts(version)
    const refusal = await placeMissing(rpcUrl, contracts.placements)
    if (refusal === undefined) carried.push(contracts)
    else absent.push({ version, reason: refusal })
  }
  const deployments = carried.flatMap((contracts) => contracts.deployments)
  await deployMissing(rpcUrl, [...deployments, ...purserContracts])
  return {
    entryPoints: byVersion(carried, ({ entryPoint }) => entryPoint),
    factories: byVersion(carried, ({ factory }) => factory),
    delegates: byVersion(carried, ({ delegate }) => delegate),
    tankFactory: tankFactoryAddress.address,
    tokens: devTokens.map(({ deployData: _, ...token }) => token),
    absent,
  }
}

function byVersion(
  carried: readonly DevContracts[],
  addressOf: (contracts: DevContracts) => Address | undefined,
): Partial<Record<Version, Address>> {
  return Object.fromEntries(
    carried.flatMap((contracts) => {
      const address = addressOf(contracts)
      return address === undefined ? [] : [[contracts.version, address]]
    }),
  )
}

/** Hardhat's node places code by a name of its own, which anvil knows too. */
function placingClient(rpcUrl: string) {
  const transport = http(rpcUrl, { retryCount: 0 })
  return createTestClient({ mode: 'hardhat', transport }).extend(publicActions)
}

/** Why the node does not place what is missing; undefined when all is in its place. */
async function placeMissing(
  rpcUrl: string,
  placements: readonly Placement[],
): Promise<string | undefined> {
  const client = placingClient(rpcUrl)
  const missing = await withoutCode(client, placements)
  if (missing.length === 0) return undefined
  const chainId = await client.getChainId()
  try {
    await Promise.all(
      missing.map(({ address, code }) => client.setCode({ address, bytecode: code(chainId) })),
    )
    return undefined
  } catch (error) {
    if (error instanceof RpcError)
      return `the node does not place code (${error.shortMessage}): put it into the genesis, see docs/operate/nodes.md`
    throw error
  }
}

/**
 * Enough for a deployment by the rules of `fork`: each byte in the call data and as code, and a constructor that makes a
 * contract of up to 2,000 bytes. How many fit into a block depends on it.
 */
function deploymentGas(fork: Fork, data: Hex): bigint {
  const { codeByte, codeByteState, floorByte, newAccountState } = rulesByFork[fork].gas
  const byte = codeByte + codeByteState + floorByte + 20
  return 600_000n + BigInt(newAccountState + byte * (size(data) + 2_000))
}

async function deployMissing(rpcUrl: string, wanted: readonly Deployment[]): Promise<void> {
  const wallet = await devWallet(rpcUrl)
  const missing = await withoutCode(wallet, wanted)
  if (missing.length === 0) return
  if ((await withoutCode(wallet, [{ address: DETERMINISTIC_DEPLOYER }])).length > 0) {
    throw new DevChainError(
      `The chain at ${rpcUrl} has no deterministic deployer at ${DETERMINISTIC_DEPLOYER}: deploy it there first.`,
    )
  }
  // Nothing is known of the chain's rules yet. What is too little gas for a newer fork fits into more blocks.
  await deploy(wallet, missing, 'osaka')
  const tooLittle = await withoutCode(wallet, missing)
  if (tooLittle.length > 0) await deploy(wallet, tooLittle, 'amsterdam')
  const [refused] = await withoutCode(wallet, wanted)
  if (refused)
    throw new DevChainError(`The chain at ${rpcUrl} refused to deploy ${refused.address}.`)
}

/**
 * Sends as many at once as a block holds: anvil forgets to mine what a full block left over. Nonces
 * keep the order; later constructors call earlier contracts, so their gas cannot be estimated.
 */
async function deploy(
  wallet: DevWallet,
  deployments: readonly Deployment[],
  fork: Fork,
): Promise<void> {
  const { account, chain } = wallet
  const [first, { gasLimit }, fees] = await Promise.all([
    wallet.getTransactionCount({ address: account.address, blockTag: 'pending' }),
    wallet.getBlock(),
    wallet.estimateFeesPerGas(),
  ])
  let unconfirmed: Hash[] = []
  let left = gasLimit
  const confirm = async (): Promise<void> => {
    await Promise.all(unconfirmed.map((hash) => wallet.waitForTransactionReceipt({ hash })))
    unconfirmed = []
    left = gasLimit
  }
  for (const [index, { deployData: data }] of deployments.entries()) {
    const gas = deploymentGas(fork, data)
    if (gas > left) await confirm()
    const serializedTransaction = await account.signTransaction({
      type: 'eip1559',
      chainId: chain.id,
      nonce: first + index,
      ...fees,
      to: DETERMINISTIC_DEPLOYER,
      data,
      gas,
    })
    unconfirmed.push(await wallet.sendRawTransaction({ serializedTransaction }))
    left -= gas
  }
  await confirm()
}

type CodeReader = { getCode(of: { address: Address }): Promise<string | undefined> }

async function withoutCode<Contract extends { readonly address: Address }>(
  reader: CodeReader,
  contracts: readonly Contract[],
): Promise<readonly Contract[]> {
  const codes = await Promise.all(contracts.map(({ address }) => reader.getCode({ address })))
  return contracts.filter((_, index) => codes[index] === undefined)
}
