import type { Logger } from 'pino'
import { privateKeyToAddress } from 'viem/accounts'
import type {
  ChainDefinition,
  SendingDefinition,
} from '../../../chain/definition/chainDefinition.js'
import { NodeRpcError } from '../../../chain/nodeErrors.js'
import type { ExecutorSigner } from '../../../chain/signing/executorTransaction.js'
import { type Finding, reasonOf, reporterOf } from '../finding.js'
import { hostOf, withNode } from './checkNodes.js'

type Keys = {
  readonly executors: readonly ExecutorSigner[]
  readonly treasury: ExecutorSigner | undefined
}

type Nodes = {
  /** The nodes of the chain that answer. */
  readonly urls: readonly string[]
  readonly logger: Logger
}

/** Answer of a node that has no such method. */
const METHOD_NOT_FOUND = -32601

/** Whether the receiver of bundles that are not public is there, and knows the method by which they are sent. */
export async function checkSending(
  { chainId, sending, rules }: ChainDefinition,
  { executors, treasury }: Keys,
  { urls, logger }: Nodes,
): Promise<Finding[]> {
  if (sending.way === 'public') return []
  const report = reporterOf('nodes', chainId)
  const findings: Finding[] = []
  const { way, authKey, publicAfter } = sending
  const holders = [...executors, ...(treasury ? [treasury] : [])].map(({ address }) => address)
  const shown = authKey && privateKeyToAddress(authKey).toLowerCase()
  if (holders.some((address) => address === shown)) {
    const remedy = 'use a sending.authKey without funds'
    findings.push(report.fault(`sending.authKey is the key of ${shown}, which holds funds`, remedy))
  }
  if (way === 'conditional' && rules === 'off') {
    const text = 'without rules no storage is known for conditions: they name the last block only'
    findings.push(report.warning(text, 'set rules to full or partial'))
  }
  const receivers = sending.url === undefined ? urls : [sending.url]
  for (const url of receivers) {
    const trouble = await troubleOf(url, methodOf(sending), logger)
    const fallback = `bundles are sent publicly after ${publicAfter} blocks`
    const text = `${hostOf(url)} ${trouble}: ${fallback}`
    if (trouble) findings.push(report.fault(text, 'correct sending.url and sending.method'))
  }
  if (findings.length > 0) return findings
  return [report.ok(`bundles are sent ${way} to ${receivers.map(hostOf).join(', ')}`)]
}

function methodOf(sending: Exclude<SendingDefinition, { way: 'public' }>): string {
  return sending.way === 'private' ? sending.method : 'eth_sendRawTransactionConditional'
}

/** Bytes that are no transaction must be refused as such. Nothing is sent. */
async function troubleOf(url: string, method: string, logger: Logger): Promise<string | undefined> {
  const params = method === 'eth_sendPrivateTransaction' ? [{ tx: '0x00' }] : ['0x00', {}]
  try {
    await withNode(url, logger, (node) => node.request(method, params))
    return `takes anything for a transaction (${method})`
  } catch (error) {
    if (!(error instanceof NodeRpcError)) return `does not answer: ${reasonOf(error)}`
    return error.code === METHOD_NOT_FOUND ? `does not know ${method}` : undefined
  }
}
