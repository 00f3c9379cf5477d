import { ExecutionRevertedError } from '../base/errors/operationErrors.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getBalance } from '../chain/nodeReads.js'
import type { Draft } from '../erc4337/draft.js'
import { decodeCalls } from './policy/decodeCalls.js'

/**
 * The error of an estimate, with the reason of a revert that gave none: calls that can be read and send
 * more wei than the sender has. Every other error stays as it is.
 */
export async function explainRevert(
  node: NodeClient,
  { sender, callData }: Pick<Draft, 'sender' | 'callData'>,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ExecutionRevertedError) || error.data?.revertData !== '0x') return error
  const sent = (decodeCalls(callData) ?? []).reduce((sum, { value }) => sum + value, 0n)
  if (sent === 0n) return error
  const balance = await getBalance(node, sender)
  if (sent <= balance) return error
  return new ExecutionRevertedError(`its calls send ${sent} wei, the sender has ${balance}`, '0x')
}
