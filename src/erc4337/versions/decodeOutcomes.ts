import type { Address, Hex } from 'viem'
import { readAbi } from '../encoding/abiReader.js'
import type { Log, OperationOutcome } from '../entryPoint.js'

const BEFORE_EXECUTION = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'
const USER_OPERATION_EVENT = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
const USER_OPERATION_REVERT_REASON =
  '0x1c4fada7374c0a9ee8841fc38afe82932dc0f8e69012e927f061a8bae611a201'
const POST_OP_REVERT_REASON = '0xf62676f440ff169a3a9afdbf812e89e7f95975ee8e5c31214ffdef631c5f4792'

/**
 * The outcomes in one transaction's logs, given in their order. Only logs of `entryPoint` itself are
 * taken for its events: an account can emit anything under its own address. An operation's own logs
 * are those since BeforeExecution or the previous UserOperationEvent (ERC-7769).
 */
export function decodeOutcomes(
  entryPoint: Address,
  logs: readonly Log[],
): readonly OperationOutcome[] {
  const outcomes: OperationOutcome[] = []
  let logsOfOperation: Log[] = []
  for (const log of logs) {
    logsOfOperation.push(log)
    if (log.address !== entryPoint) continue
    if (log.topics[0] === BEFORE_EXECUTION) logsOfOperation = []
    if (log.topics[0] === USER_OPERATION_EVENT) {
      const outcome = readOutcome(entryPoint, log, logsOfOperation)
      if (outcome) outcomes.push(outcome)
      logsOfOperation = []
    }
  }
  return outcomes
}

function readOutcome(
  entryPoint: Address,
  event: Log,
  logs: readonly Log[],
): OperationOutcome | undefined {
  const [, userOpHash, sender, paymaster] = event.topics
  if (!userOpHash || !sender || !paymaster) return undefined
  return readAbi(event.data, '0x', (reader) => ({
    userOpHash,
    sender: topicAddress(sender),
    nonce: reader.uint(0),
    paymaster: topicAddress(paymaster),
    success: reader.boolean(32),
    actualGasCost: reader.uint(64),
    actualGasUsed: reader.uint(96),
    reason: findReason(entryPoint, userOpHash, logs),
    event,
    logs,
  }))
}

function topicAddress(topic: Hex): Address {
  return `0x${topic.slice(26)}`
}

function findReason(entryPoint: Address, userOpHash: Hex, logs: readonly Log[]): Hex {
  for (const log of logs) {
    const [kind, hash] = log.topics
    if (log.address !== entryPoint || hash !== userOpHash) continue
    if (kind !== USER_OPERATION_REVERT_REASON && kind !== POST_OP_REVERT_REASON) continue
    return readAbi(log.data, '0x', (reader) => reader.bytes(0, 32)) ?? '0x'
  }
  return '0x'
}
