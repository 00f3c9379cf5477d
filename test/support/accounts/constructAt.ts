import {
  type Address,
  concatHex,
  createTestClient,
  encodeAbiParameters,
  type Hex,
  http,
  publicActions,
  walletActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { devKey } from '../../../src/devnet/devKeys.js'

const CONSTRUCTION_GAS = 15_000_000n

export function accountsClient(rpcUrl: string) {
  return createTestClient({ mode: 'anvil', chain: foundry, transport: http(rpcUrl) })
    .extend(publicActions)
    .extend(walletActions)
}

/**
 * Puts a contract at the address where clients expect it, as if it had been created there: its
 * constructor runs at that address, so that what it stores, its immutables and the contracts that it
 * creates are those of a real deployment.
 */
export async function constructAt(
  rpcUrl: string,
  address: Address,
  creationCode: Hex,
  args: readonly Address[] = [],
): Promise<void> {
  const client = accountsClient(rpcUrl)
  const words = encodeAbiParameters(
    args.map(() => ({ type: 'address' })),
    args,
  )
  // A new contract has nonce 1 (EIP-161), which names the contracts that its constructor creates.
  await client.setNonce({ address, nonce: 1 })
  await client.setCode({ address, bytecode: concatHex([creationCode, words]) })
  const call = { to: address, gas: CONSTRUCTION_GAS }
  const { data } = await client.call(call)
  if (data === undefined) throw new Error(`The constructor of ${address} gave no code.`)
  const account = privateKeyToAccount(devKey(5))
  const hash = await client.sendTransaction({ ...call, account, chain: null })
  const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 })
  if (receipt.status !== 'success') throw new Error(`The constructor of ${address} failed.`)
  await client.setCode({ address, bytecode: data })
}
