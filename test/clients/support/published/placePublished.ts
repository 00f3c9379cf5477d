import { type Address, type Hex, parseEther, size } from 'viem'
import { accountsClient } from '../constructAt.js'
import {
  type Deployer,
  deterministicDeployer,
  type PublishedContract,
  provenAddress,
} from './publishedContract.js'

/** Sends the creations; nobody else's, so that its nonces are in nobody's way. */
const SENDER: Address = '0x00000000000000000000000000000000000b1a41'

type Client = ReturnType<typeof accountsClient>
type Sent = {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  readonly value?: bigint
}

/** Sends a transaction of anybody; `what` names it in the error where the chain refuses it. */
export async function sendAs(client: Client, sent: Sent, what: string): Promise<void> {
  const { from: account, to, data, value = 0n } = sent
  await client.setBalance({ address: account, value: parseEther('100') })
  await client.impersonateAccount({ address: account })
  // A new contract costs 200 gas for each byte of code, and 16 for each of calldata; 50 more are for its constructor.
  const gas = 2_000_000n + 266n * BigInt(size(data))
  const hash = await client.sendTransaction({ account, chain: null, to, data, value, gas })
  await client.stopImpersonatingAccount({ address: account })
  const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 })
  if (receipt.status !== 'success') throw new Error(`${what} was refused by the chain.`)
}

async function placeCode(client: Client, address: Address, code: Hex): Promise<void> {
  if ((await client.getCode({ address })) !== undefined) return
  await client.setCode({ address, bytecode: code })
  await client.setNonce({ address, nonce: 1 })
}

async function placeDeployer(client: Client, { address, code }: Deployer): Promise<void> {
  const bytecode = code ?? (await client.getCode({ address: deterministicDeployer.address }))
  if (bytecode === undefined) throw new Error('The chain has no deterministic deployer.')
  await placeCode(client, address, bytecode)
}

/** Brings the contracts, in their order, to the chain as they came to public chains, but for those that are there. */
export async function placePublished(
  rpcUrl: string,
  contracts: readonly PublishedContract[],
): Promise<void> {
  const client = accountsClient(rpcUrl)
  for (const contract of contracts) {
    const { name, origin } = contract
    const address = contract.address ?? provenAddress(contract)
    if (address !== undefined && (await client.getCode({ address })) !== undefined) continue
    if ('runtime' in origin) await placeCode(client, contract.address!, origin.runtime)
    else {
      await placeDeployer(client, origin.deployer)
      const creation = { from: SENDER, to: origin.deployer.address, data: origin.data }
      await sendAs(client, creation, name)
    }
  }
}
