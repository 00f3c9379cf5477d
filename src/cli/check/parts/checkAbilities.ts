import type { Address } from 'viem'
import { WebSocket } from 'ws'
import { comingBlockOverride } from '../../../chain/comingBlock.js'
import type { ChainDefinition } from '../../../chain/definition/chainDefinition.js'
import type { Head } from '../../../chain/head.js'
import type { NodeClient } from '../../../chain/nodeClient.js'
import { getBlock, getLogsOfBlocks } from '../../../chain/nodeReads.js'
import { type Finding, reasonOf, reporterOf } from '../finding.js'

/** What is looked at, and by which node. */
type AbilitiesCheck = {
  readonly node: NodeClient
  /** The name by which findings call it. */
  readonly host: string
  readonly head: Head
  readonly definition: ChainDefinition
}

/** Checks reads of a node that rarely fail, and what it serves in addition to its blocks. See docs/operate/nodes.md. */
export async function checkAbilities(check: AbilitiesCheck): Promise<readonly Finding[]> {
  const findings = await Promise.all([
    logsOfBlock(check),
    pretendedBlocks(check),
    preconfirmations(check),
  ])
  return findings.flat()
}

const NOBODY: Address = `0x${'00'.repeat(20)}`

/** The index of inclusions reads each new block's events by the block's hash. */
async function logsOfBlock({ node, host, head, definition }: AbilitiesCheck): Promise<Finding[]> {
  const { chainId, entryPoints } = definition
  const filter = { address: entryPoints[0]?.address ?? NOBODY, topics: [] }
  try {
    await getLogsOfBlocks(node, filter, [head.hash])
    return []
  } catch (error) {
    // A block that a reorg has replaced meanwhile has no logs to give.
    if ((await getBlock(node, head.hash)) === undefined) return []
    const text = `${host} does not return logs by block hash (EIP-234): ${reasonOf(error)}`
    return [reporterOf('nodes', chainId).fault(text, 'use a node that does')]
  }
}

/** A bundle is tried in the block that it is meant for. */
async function pretendedBlocks({
  node,
  host,
  head,
  definition,
}: AbilitiesCheck): Promise<Finding[]> {
  if ((await comingBlockOverride(node, head)) !== undefined) return []
  const text = `${host} supports no block overrides in eth_call, so bundles are simulated in the block before their own`
  const remedy = 'use a node with block overrides if operations depend on time'
  return [reporterOf('nodes', definition.chainId).warning(text, remedy)]
}

/** Preconfirmations are read from the pending block. */
async function preconfirmations({
  node,
  host,
  head,
  definition,
}: AbilitiesCheck): Promise<Finding[]> {
  if (!definition.preconfirmations) return []
  const pending = await getBlock(node, 'pending').catch(() => undefined)
  if (pending !== undefined && pending.number > head.number) return []
  const text = `${host} serves no pending block, so preconfirmations are not reported`
  const remedy =
    "use an endpoint that serves Flashblocks, or set the chain's preconfirmations to false"
  return [reporterOf('nodes', definition.chainId).warning(text, remedy)]
}

/** Milliseconds in which an endpoint must have taken the subscription. */
const PATIENCE = 2_500

/** Whether new heads are announced where the configuration says. */
export async function checkAnnouncements({
  chainId,
  headsUrl,
}: ChainDefinition): Promise<readonly Finding[]> {
  if (headsUrl === undefined) return []
  const report = reporterOf('nodes', chainId)
  const { host } = new URL(headsUrl)
  const trouble = await subscribe(headsUrl)
  if (trouble === undefined) return [report.ok(`${host} announces new heads`)]
  const text = `${host} does not announce new heads: ${trouble}`
  return [report.warning(text, 'correct its ws URL in rpcUrls; until then heads are polled only')]
}

/** The reason for which a subscription to new heads fails; undefined where it is taken. */
function subscribe(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { handshakeTimeout: PATIENCE })
    const end = (trouble: string | undefined): void => {
      clearTimeout(limit)
      socket.terminate()
      resolve(trouble)
    }
    const limit = setTimeout(() => end('it did not answer in time'), PATIENCE)
    socket.on('open', () => {
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
    })
    socket.on('message', (data) =>
      end(/"result"/.test(String(data)) ? undefined : 'it takes no subscription'),
    )
    socket.on('error', (error) => end(reasonOf(error)))
    socket.on('close', () => end('it closed the connection'))
  })
}
