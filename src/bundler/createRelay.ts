import type { Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { keccak256, numberToHex, stringToBytes } from 'viem/utils'
import { Lru } from '../base/lru.js'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { ConditionalSending, PrivateSending } from '../chain/definition/chainDefinition.js'
import { type BroadcastResult, classifyRefusal } from '../chain/broadcast.js'
import { createNodeClient, type NodeClient, type NodeClientOptions } from '../chain/nodeClient.js'
import { NodeRpcError, NodeUnavailableError } from '../chain/nodeErrors.js'
import type { BundleAttempt, NewAttempt } from './outbox/bundles.js'

/** The second parameter of eth_sendRawTransactionConditional (ERC-7796). */
export type SendingConditions = {
  /** The values that slots must have, by contract and slot. */
  readonly knownAccounts?: Readonly<Record<Address, Readonly<Record<Hex, Hex>>>>
  readonly blockNumberMax?: Hex
  readonly timestampMax?: Hex
}

/** The answer of a relay to a transaction; `silent`: none, or one that makes no sense. */
type RelayAnswer = 'taken' | 'refused' | 'silent'

/**
 * The receiver of bundles that are not sent publicly, and what it answered. The memory is lost with the process: a
 * transaction that this one has not sent yet is sent again, which changes nothing.
 */
export type Relay = {
  readonly way: 'private' | 'conditional'
  /** Blocks after which a bundle that it was given is sent publicly. */
  readonly publicAfter: number
  /**
   * Gives it a transaction: until it has taken it, and under conditions again and again, since they may have become
   * outdated. Its word ends no bundle: whatever it refuses may go publicly later. `until`: the last block for which it
   * shall try; absent for what the public has too.
   */
  send(
    attempt: BundleAttempt & Pick<NewAttempt, 'raw'>,
    until: bigint | undefined,
    conditions: () => Promise<SendingConditions>,
  ): Promise<BroadcastResult>
  answerTo(hash: Hex): RelayAnswer | undefined
  /** Takes transactions back. True only when it says of each that it will not include it. */
  withdraw(attempts: readonly BundleAttempt[]): Promise<boolean>
  /** Pauses it from this block on, for as many blocks as a bundle has just waited for it without success. */
  pause(from: bigint): void
  /** Whether bundles that are signed at this block are sent publicly, because it is paused. */
  isPaused(at: bigint): boolean
  close(): Promise<void>
}

type RelayParts = Pick<NodeClientOptions, 'logger' | 'onExchange'> & {
  /** The chain's nodes, which take conditional transactions where no other receiver is configured. */
  readonly node: NodeClient
  readonly metrics: ChainMetrics
}

/** `isNowhere`: it refused the transaction each time, so that nobody has it. */
type Answered = { readonly answer: RelayAnswer; readonly isNowhere: boolean }

/** Milliseconds for an answer: a cycle of the bundler waits for it. */
const DEADLINE = 3_000
/** Bytes of an answer, which holds a hash or a sentence. */
const MAX_ANSWER_BYTES = 1024 * 1024
/** Transactions whose answers are remembered: far more than can be open at a time. */
const REMEMBERED = 10_000

export function createRelay(
  sending: PrivateSending | ConditionalSending,
  { node, logger, onExchange, metrics }: RelayParts,
): Relay {
  const { way, url, publicAfter, authKey } = sending
  const client =
    url === undefined
      ? undefined
      : createNodeClient({
          urls: [url],
          logger,
          deadline: DEADLINE,
          maxAnswerBytes: MAX_ANSWER_BYTES,
          bodyHeaders: authKey && ((body) => flashbotsSignature(authKey, body)),
          ...(onExchange && { onExchange }),
        })
  const receiver = client ?? node
  const cancels = way === 'private' && sending.method === 'eth_sendPrivateTransaction'
  const answers = new Lru<Hex, Answered>(REMEMBERED)
  let pausedUntil = 0n

  function note({ hash, age }: BundleAttempt, answer: RelayAnswer): void {
    metrics.count('purser_relay_bundles_total', { outcome: answer })
    const before = answers.get(hash)
    // An earlier process may have seen a transaction taken that was not signed just now.
    const wasNowhere = before === undefined ? age === 0 : before.isNowhere
    answers.set(hash, { answer, isNowhere: wasNowhere && answer === 'refused' })
  }

  async function ask(raw: Hex, until: bigint | undefined, conditions: SendingConditions) {
    if (way === 'conditional')
      return receiver.request<unknown>('eth_sendRawTransactionConditional', [raw, conditions])
    if (!cancels) return receiver.request<unknown>('eth_sendRawTransaction', [raw])
    const last = until === undefined ? {} : { maxBlockNumber: numberToHex(until) }
    return receiver.request<unknown>('eth_sendPrivateTransaction', [{ tx: raw, ...last }])
  }

  return {
    way,
    publicAfter,
    async send(attempt, until, conditions) {
      const isTaken = answers.get(attempt.hash)?.answer === 'taken'
      if (isTaken && way === 'private') return { kind: 'sent' }
      try {
        const conditional = way === 'conditional' ? await conditions() : {}
        const result = await ask(attempt.raw, until, conditional)
        if (typeof result === 'string' && result.toLowerCase() === attempt.hash) {
          note(attempt, 'taken')
          return { kind: 'sent' }
        }
        note(attempt, 'silent')
        return { kind: 'indeterminate', reason: "the relay did not answer with the bundle's hash" }
      } catch (error) {
        if (error instanceof NodeRpcError) {
          const isKnown = classifyRefusal(error.message, attempt.raw).kind === 'sent'
          note(attempt, isKnown ? 'taken' : 'refused')
          return isKnown ? { kind: 'sent' } : { kind: 'indeterminate', reason: error.message }
        }
        if (!(error instanceof NodeUnavailableError)) throw error
        note(attempt, 'silent')
        return { kind: 'indeterminate', reason: error.message }
      }
    },
    answerTo: (hash) => answers.get(hash)?.answer,
    async withdraw(attempts) {
      for (const { hash } of attempts) {
        if (answers.get(hash)?.isNowhere) continue
        if (!cancels || !(await isCancelled(receiver, hash))) return false
      }
      return true
    },
    pause(from) {
      pausedUntil = from + BigInt(publicAfter)
    },
    isPaused: (at) => at < pausedUntil,
    close: async () => client?.close(),
  }
}

async function isCancelled(receiver: NodeClient, txHash: Hex): Promise<boolean> {
  try {
    return (await receiver.request('eth_cancelPrivateTransaction', [{ txHash }])) === true
  } catch (error) {
    if (error instanceof NodeRpcError || error instanceof NodeUnavailableError) return false
    throw error
  }
}

/** The header by which Flashbots' relays know who asks: a personal signature over the hash of the body. */
async function flashbotsSignature(authKey: Hex, body: string) {
  const account = privateKeyToAccount(authKey)
  const signature = await account.signMessage({ message: keccak256(stringToBytes(body)) })
  return { 'x-flashbots-signature': `${account.address}:${signature}` }
}
