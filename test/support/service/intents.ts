import type { Hex } from 'viem'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { result } from '../http/jsonRpc.js'
import { until } from '../until.js'
import { devAccount } from './devAccount.js'

/** What a client wants to happen, with what it knows so far. */
export type Intent = {
  readonly seed: string
  readonly payer: 'self' | 'tank'
  op?: Operation
  /** The hash that the service promised to include. */
  acknowledged?: Hex
}

/** `count` intents of as many new accounts; every other one is paid by the tank. */
export function intentsOf(name: string, count: number): Intent[] {
  return Array.from({ length: count }, (_, index) => ({
    seed: `${name} ${index}`,
    payer: index % 2 === 0 ? 'self' : 'tank',
  }))
}

/** Estimates, lets sponsor where wanted, and signs, unless that was done before. */
export async function prepare(info: DevInfo, intent: Intent): Promise<void> {
  if (intent.op) return
  const account = await devAccount(info, intent.seed)
  intent.op = await (intent.payer === 'self' ? account.selfPaid() : account.sponsored())
}

/** Sends what is prepared; the hash must be what viem computes, also when it is sent again. */
export async function send(info: DevInfo, intent: Intent): Promise<Hex> {
  const account = await devAccount(info, intent.seed)
  if (!intent.op) throw new Error(`${intent.seed} is not prepared`)
  const hash = await account.send(intent.op)
  if (hash !== account.hashOf(intent.op)) throw new Error(`${intent.seed}: another hash ${hash}`)
  intent.acknowledged = hash
  return hash
}

/**
 * Runs `step` for all at once while the service may die. What it had promised by then is kept in the
 * intents.
 * @throws whatever is not a broken connection
 */
export async function whileDying(
  intents: readonly Intent[],
  step: (intent: Intent) => Promise<unknown>,
): Promise<void> {
  for (const settled of await Promise.allSettled(intents.map(step))) {
    // fetch() reports every broken exchange as a TypeError.
    if (settled.status === 'rejected' && !(settled.reason instanceof TypeError))
      throw settled.reason
  }
}

/** Receipts that are asked for at a time: a proxy has so many connections to give. */
const AT_ONCE = 100

/** The hashes, once each has a successful receipt. The test's timeout ends the wait. */
export async function included(info: DevInfo, intents: readonly Intent[]): Promise<Hex[]> {
  const hashes: Hex[] = []
  for (let begin = 0; begin < intents.length; begin += AT_ONCE) {
    const some = intents.slice(begin, begin + AT_ONCE)
    hashes.push(...(await Promise.all(some.map((intent) => inclusion(info, intent)))))
  }
  return hashes
}

async function inclusion(info: DevInfo, { seed, acknowledged }: Intent): Promise<Hex> {
  if (!acknowledged) throw new Error(`${seed} was never acknowledged`)
  const receipt = await until(() =>
    result(info.bundlerUrl, 'eth_getUserOperationReceipt', [acknowledged]),
  )
  if (receipt.success !== 'true') throw new Error(`${seed}: ${JSON.stringify(receipt)}`)
  return acknowledged
}
