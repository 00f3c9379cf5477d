import {
  type Address,
  type Hex,
  parseTransaction,
  recoverTransactionAddress,
  stringToBytes,
} from 'viem'
import { keccak256, verifyMessage } from 'viem/utils'
import { until } from '../until.js'
import { startHttpNode } from './httpNode.js'

type Held = { readonly raw: Hex; readonly conditions: Conditions }
type Conditions = {
  readonly knownAccounts?: Readonly<Record<Address, Readonly<Record<Hex, Hex>>>>
  readonly blockNumberMax?: Hex
  readonly timestampMax?: Hex
}
type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }

type Answer = { readonly result?: unknown; readonly error?: unknown }

/** What a relay does: its work, hold what it is given and never include it, answer nonsense, or nothing at all. */
type Mood = 'works' | 'swallows' | 'babbles' | 'is down'

/**
 * A relay in front of anvil, by HTTP. It holds transactions until `build`, which hands those to the chain that do
 * not revert and whose conditions hold at that moment. `signers` are the keys that signed its requests.
 */
export async function startRelay(anvilUrl: () => string) {
  const held = new Map<Hex, Held>()
  const signers: Address[] = []
  let mood: Mood = 'works'
  const ask = async (method: string, params: readonly unknown[]): Promise<Answer> => {
    const response = await fetch(anvilUrl(), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return (await response.json()) as Answer
  }
  const holds = async ({ knownAccounts = {}, blockNumberMax, timestampMax }: Conditions) => {
    const { result } = await ask('eth_getBlockByNumber', ['latest', false])
    const head = result as { readonly number: Hex; readonly timestamp: Hex }
    if (blockNumberMax && BigInt(head.number) >= BigInt(blockNumberMax)) return false
    if (timestampMax && BigInt(head.timestamp) >= BigInt(timestampMax)) return false
    for (const [account, slots] of Object.entries(knownAccounts))
      for (const [slot, value] of Object.entries(slots))
        if ((await ask('eth_getStorageAt', [account, slot, 'latest'])).result !== value)
          return false
    return true
  }
  const answer = async ({ method, params }: Call): Promise<object> => {
    const [first, second] = params as [never, Conditions | undefined]
    if (method === 'eth_cancelPrivateTransaction')
      return { result: held.delete((first as { txHash: Hex }).txHash) }
    const raw = method === 'eth_sendPrivateTransaction' ? (first as { tx: Hex }).tx : (first as Hex)
    const conditions = second ?? {}
    if (!(await holds(conditions)))
      return { error: { code: -32003, message: 'transaction rejected: conditions not met' } }
    held.set(keccak256(raw), { raw, conditions })
    return { result: keccak256(raw) }
  }
  const server = await startHttpNode(async (body, response, request) => {
    const header = request.headers['x-flashbots-signature']
    if (typeof header === 'string') {
      const [address, signature] = header.split(':') as [Address, Hex]
      const message = keccak256(stringToBytes(JSON.stringify(body)))
      if (await verifyMessage({ address, message, signature })) signers.push(address)
    }
    const call = body as Call
    if (mood === 'is down') response.destroy()
    else if (mood === 'babbles')
      response.end(JSON.stringify({ id: call.id, result: `0x${'77'.repeat(32)}` }))
    else response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, ...(await answer(call)) }))
  })
  return {
    ...server,
    held,
    signers,
    set: (next: Mood) => {
      mood = next
    },
    /** Methods that it was asked, in their order. */
    asked: () => server.bodies.map((body) => (body as Call).method),
    /** Hands over what may be included now, until it is mined; the hashes of those. Of one nonce the one with the highest fee goes. */
    async build(): Promise<Hex[]> {
      if (mood !== 'works') return []
      const built: Hex[] = []
      const byPrice = [...held].sort(([, a], [, b]) => (tip(a.raw) < tip(b.raw) ? 1 : -1))
      for (const [hash, { raw, conditions }] of byPrice) {
        const { to, data, gas } = parseTransaction(raw)
        const from = await recoverTransactionAddress({
          serializedTransaction: raw as `0x02${string}`,
        })
        const call = { from, to, data, gas: `0x${gas!.toString(16)}` }
        if (!(await holds(conditions)) || 'error' in (await ask('eth_call', [call, 'latest'])))
          continue
        held.delete(hash)
        if ('error' in (await ask('eth_sendRawTransaction', [raw]))) continue
        built.push(hash)
        await until(async () => (await ask('eth_getTransactionReceipt', [hash])).result)
      }
      return built
    },
  }
}

function tip(raw: Hex): bigint {
  return parseTransaction(raw).maxPriorityFeePerGas ?? 0n
}

export type TestRelay = Awaited<ReturnType<typeof startRelay>>
