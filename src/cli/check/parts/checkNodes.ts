import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import { smallest } from '../../../base/bigints.js'
import type { ChainDefinition } from '../../../chain/definition/chainDefinition.js'
import type { Head } from '../../../chain/head.js'
import {
  createNodeClient,
  MAX_CALLS_PER_BATCH,
  type NodeClient,
} from '../../../chain/nodeClient.js'
import { NodeRpcError } from '../../../chain/nodeErrors.js'
import { getBlock } from '../../../chain/nodeReads.js'
import { type Finding, type Reporter, reasonOf, reporterOf } from '../finding.js'
import { checkAbilities, checkAnnouncements } from './checkAbilities.js'

/** Milliseconds that one exchange with a node may take; a check must end soon. */
export const NODE_DEADLINE = 2_500

/** Seconds after which a newest block is old: several times the block time of every chain in use. */
const OLD_HEAD = 120

/** Blocks by which nodes of one chain may be apart. */
const FAR_APART = 10n

/** Looks at each node of a chain by itself, and at whether they agree. */
export async function checkNodes(definition: ChainDefinition, logger: Logger) {
  const report = reporterOf('nodes', definition.chainId)
  const looks = await Promise.all(
    definition.rpcUrls.map((url) => withNode(url, logger, (node) => look(node, url, definition))),
  )
  const present = looks.filter(({ head }) => head !== undefined)
  const absent = looks.flatMap(({ url, trouble }) => {
    if (trouble === undefined) return []
    const remedy = 'start it, or correct rpcUrls'
    const text = `${hostOf(url)} does not answer: ${trouble}`
    return [present.length > 0 ? report.warning(text, remedy) : report.fault(text, remedy)]
  })
  /** The URLs at which the chain was found. */
  const usable = present.map(({ url }) => url)
  const [other, announced] = await Promise.all([
    otherChains(definition, usable, logger).catch((error: unknown) => [
      report.warning(
        `${usable.map(hostOf).join(' and ')} could not be compared: ${reasonOf(error)}`,
        'run the check again',
      ),
    ]),
    checkAnnouncements(definition),
  ])
  return {
    findings: [
      ...looks.flatMap(({ findings }) => findings),
      ...absent,
      ...apart(present, report),
      ...other,
      ...announced,
    ],
    usable,
  }
}

type Look = {
  readonly url: string
  readonly findings: readonly Finding[]
  /** undefined where the node cannot be used for the chain */
  readonly head?: Head
  /** The reason for which it does not answer. */
  readonly trouble?: string
}

/** The host of a node's URL: the rest may hold a key and is not shown. */
export function hostOf(url: string): string {
  return new URL(url).host
}

/** A client of one node for as long as `use` runs. */
export async function withNode<Result>(
  url: string,
  logger: Logger,
  use: (node: NodeClient) => Promise<Result>,
): Promise<Result> {
  const node = createNodeClient({ urls: [url], logger, deadline: NODE_DEADLINE })
  try {
    return await use(node)
  } finally {
    await node.close()
  }
}

async function look(node: NodeClient, url: string, definition: ChainDefinition): Promise<Look> {
  const { chainId } = definition
  const report = reporterOf('nodes', chainId)
  const host = hostOf(url)
  try {
    const actual = Number(await node.request<Hex>('eth_chainId', []))
    if (actual !== chainId) {
      const remedy = 'correct chainId or rpcUrls'
      return { url, findings: [report.fault(`${host} serves chain ${actual}`, remedy)] }
    }
    const head = await node.head()
    const abilities = await Promise.all([
      batches(node, report, host),
      overrides(node, report, host),
      logs(node, report, host, head, definition),
      sends(node, report, host),
      checkAbilities({ node, host, head, definition }),
    ])
    const findings = [...age(head, report, host), ...abilities.flat()]
    const isGood = findings.every(({ level }) => level === 'ok')
    const text = `${host} serves chain ${chainId}, block ${head.number}`
    return { url, head, findings: isGood ? [report.ok(text)] : findings }
  } catch (error) {
    return { url, findings: [], trouble: reasonOf(error) }
  }
}

function age(head: Head, report: Reporter, host: string): Finding[] {
  const seconds = Math.round(Date.now() / 1_000 - head.timestamp)
  if (seconds <= OLD_HEAD) return []
  const text = `the newest block at ${host} is ${seconds} s old`
  return [report.warning(text, 'let the node catch up, or look at the clock of this machine')]
}

/** Requests travel together, as many as a client sends at once, which some gateways refuse. */
async function batches(node: NodeClient, report: Reporter, host: string): Promise<Finding[]> {
  const takes = async (size: number): Promise<boolean> => {
    const call = { method: 'eth_chainId', params: [] }
    const answers = await node.batch(Array.from({ length: size }, () => call)).catch(() => [])
    return answers.length === size && answers.every(({ ok }) => ok)
  }
  if (await takes(MAX_CALLS_PER_BATCH)) return []
  const text = (await takes(2))
    ? `${host} answers batches of JSON-RPC requests, but not of ${MAX_CALLS_PER_BATCH}`
    : `${host} does not support JSON-RPC batches`
  return [report.fault(text, 'use a node or a plan of the provider that does')]
}

/** Code that returns 42, pretended at an address that has none. */
const PRETENDED: Address = '0x000000000000000070757273657220636865636b'
const ANSWERS_42: Hex = '0x602a5f5260205ff3'

/** Estimates and reads of state pretend code, money and storage in eth_call. */
async function overrides(node: NodeClient, report: Reporter, host: string): Promise<Finding[]> {
  const [answer] = await node.batch([
    {
      method: 'eth_call',
      params: [{ to: PRETENDED }, 'latest', { [PRETENDED]: { code: ANSWERS_42 } }],
    },
  ])
  if (answer?.ok && typeof answer.result === 'string' && Number(answer.result) === 42) return []
  const text = `${host} does not apply state overrides in eth_call`
  return [report.fault(text, 'use a node that does: geth, reth, Nethermind, Besu, Erigon, anvil')]
}

/** Events are read in ranges of `logRange` blocks. */
async function logs(
  node: NodeClient,
  report: Reporter,
  host: string,
  { number }: Head,
  { logRange, entryPoints }: ChainDefinition,
): Promise<Finding[]> {
  const span = BigInt(logRange - 1)
  const from = number > span ? number - span : 0n
  const filter = {
    address: entryPoints[0]?.address ?? PRETENDED,
    topics: [],
    fromBlock: `0x${from.toString(16)}`,
    toBlock: `0x${number.toString(16)}`,
  }
  const [answer] = await node.batch([{ method: 'eth_getLogs', params: [filter] }])
  if (answer?.ok) return []
  const text = `${host} refuses logs of ${number - from + 1n} blocks: ${reasonOf(answer?.error)}`
  return [
    report.warning(text, 'use a node that allows it; otherwise logs are read in smaller ranges'),
  ]
}

/** Answer of a node that has no such method. */
const METHOD_NOT_FOUND = -32601

/** Bytes that are no transaction must be refused as such, not as a method that nobody may call. */
async function sends(node: NodeClient, report: Reporter, host: string): Promise<Finding[]> {
  try {
    await node.request('eth_sendRawTransaction', ['0x00'])
  } catch (error) {
    const isRefused = error instanceof NodeRpcError && error.code !== METHOD_NOT_FOUND
    if (isRefused) return []
  }
  const text = `${host} takes no transactions (eth_sendRawTransaction)`
  return [report.fault(text, 'use a node that does')]
}

/** Whether nodes that answer are on one chain, and near each other. */
function apart(looks: readonly Look[], report: Reporter): Finding[] {
  const heads = looks.flatMap(({ url, head }) => (head ? [{ host: hostOf(url), head }] : []))
  const [first] = heads
  if (first === undefined) return []
  const lowest = heads.reduce((low, each) => (each.head.number < low.head.number ? each : low))
  const highest = heads.reduce((high, each) => (each.head.number > high.head.number ? each : high))
  const behind = highest.head.number - lowest.head.number
  if (behind <= FAR_APART) return []
  const text = `${lowest.host} is ${behind} blocks behind ${highest.host}`
  return [report.warning(text, 'let it catch up: a node that is behind is not used')]
}

/** Nodes of one chain id may follow different chains: a block that all must have has one hash at all of them. */
async function otherChains(
  { chainId, finalityDepth }: ChainDefinition,
  urls: readonly string[],
  logger: Logger,
): Promise<Finding[]> {
  if (urls.length < 2) return []
  const report = reporterOf('nodes', chainId)
  const heads = await Promise.all(urls.map((url) => withNode(url, logger, (node) => node.head())))
  const [first = 0n, ...others] = heads.map(({ number }) => number)
  const lowest = smallest(first, ...others)
  const depth = BigInt(finalityDepth)
  const number = lowest > depth ? lowest - depth : 0n
  const hashes = await Promise.all(
    urls.map((url) => withNode(url, logger, async (node) => (await getBlock(node, number))?.hash)),
  )
  if (new Set(hashes).size === 1) return []
  const text = `${urls.map(hostOf).join(' and ')} have different blocks ${number}`
  return [report.fault(text, 'remove the node that follows another chain from rpcUrls')]
}
