import {
  type Address,
  concatHex,
  createTestClient,
  encodeAbiParameters,
  type Hex,
  http,
  publicActions,
  toHex,
  walletActions,
  zeroAddress,
} from 'viem'
import { foundry } from 'viem/chains'

const CONSTRUCTION_GAS = 15_000_000

export function accountsClient(rpcUrl: string) {
  return createTestClient({ mode: 'anvil', chain: foundry, transport: http(rpcUrl) })
    .extend(publicActions)
    .extend(walletActions)
}

type Written = Readonly<
  Record<Address, { code?: Hex; nonce?: number; storage?: Readonly<Record<Hex, Hex>> }>
>

/**
 * Puts a contract at the address where clients expect it, unless a contract is there, as if it had been created there: its
 * constructor runs at that address, so that what it stores, its immutables and the contracts that it
 * creates are those of a real deployment.
 *
 * It runs in a call, and what it writes is placed afterwards: no block ever shows the creation code at the address,
 * which a service would read and rightly remember, since code does not change.
 */
export async function constructAt(
  rpcUrl: string,
  address: Address,
  creationCode: Hex,
  args: readonly Address[] = [],
): Promise<void> {
  const client = accountsClient(rpcUrl)
  if ((await client.getCode({ address })) !== undefined) return
  const words = encodeAbiParameters(
    args.map(() => ({ type: 'address' })),
    args,
  )
  // A new contract has nonce 1 (EIP-161), which names the contracts that its constructor creates.
  const created = { code: concatHex([creationCode, words]), nonce: toHex(1) }
  const call = { from: zeroAddress, to: address, gas: toHex(CONSTRUCTION_GAS) }
  const overrides = { [address]: created }
  const request = (method: string, params: readonly unknown[]) =>
    client.request({ method, params } as never) as Promise<unknown>
  const [runtime, { post }] = (await Promise.all([
    request('eth_call', [call, 'latest', overrides]),
    request('debug_traceCall', [
      call,
      'latest',
      {
        tracer: 'prestateTracer',
        tracerConfig: { diffMode: true },
        stateOverrides: overrides,
      },
    ]),
  ])) as [Hex, { post: Written }]
  if (runtime === '0x') throw new Error(`The constructor of ${address} gave no code.`)
  await client.setNonce({ address, nonce: 1 })
  for (const [written, { code, nonce, storage = {} }] of entriesOf(post)) {
    if (written === zeroAddress) continue
    for (const [slot, value] of Object.entries(storage))
      await client.setStorageAt({ address: written, index: slot as Hex, value })
    if (nonce !== undefined) await client.setNonce({ address: written, nonce })
    if (code !== undefined) await client.setCode({ address: written, bytecode: code })
  }
  await client.setCode({ address, bytecode: runtime })
}

function entriesOf(written: Written) {
  return Object.entries(written) as [Address, Written[Address]][]
}
