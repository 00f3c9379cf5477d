import type { Hex } from 'viem'
import type { CallOutcome, CallRequest } from '../../chain/ethCall.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeRpcError } from '../../chain/nodeErrors.js'
import type { StateOverride } from '../../chain/stateOverride.js'

type SimulatedBlock = {
  readonly calls: readonly {
    readonly status: Hex
    readonly returnData: Hex
    readonly error?: { readonly message: string }
  }[]
}

/** Nodes that do not have the method; there is no use in asking them again. */
const withoutMethod = new WeakSet<NodeClient>()
const METHOD_NOT_FOUND = -32_601

/**
 * The outcomes of transactions that are mined one after the other behind the newest block, each in a block of
 * its own from the time `timestamp` on (Unix seconds). Undefined where the node cannot tell (eth_simulateV1).
 */
export async function simulateSequence(
  node: NodeClient,
  requests: readonly CallRequest[],
  timestamp: number,
  override: StateOverride | undefined,
): Promise<readonly CallOutcome[] | undefined> {
  if (withoutMethod.has(node)) return undefined
  const blockStateCalls = requests.map(({ from, to, data, gas }, place) => ({
    blockOverrides: { time: `0x${(timestamp + place).toString(16)}` },
    ...(place === 0 && override ? { stateOverrides: override } : {}),
    calls: [{ from, to, data, ...(gas === undefined ? {} : { gas: `0x${gas.toString(16)}` }) }],
  }))
  try {
    const params = [{ blockStateCalls }, 'latest']
    const blocks = await node.request<readonly SimulatedBlock[]>('eth_simulateV1', params)
    const calls = blocks.flatMap((block) => block.calls)
    return calls.length === requests.length ? calls.map(outcomeOf) : undefined
  } catch (error) {
    if (!(error instanceof NodeRpcError)) throw error
    if (error.code === METHOD_NOT_FOUND) withoutMethod.add(node)
    return undefined
  }
}

function outcomeOf({ status, returnData, error }: SimulatedBlock['calls'][number]): CallOutcome {
  if (BigInt(status) === 1n) return { ok: true, data: returnData }
  return { ok: false, revertData: returnData, message: error?.message ?? 'reverted' }
}
