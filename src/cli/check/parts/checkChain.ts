import { ConfigError } from '../../../base/errors/configError.js'
import { detectChainRules } from '../../../chain/chainRules.js'
import { DETERMINISTIC_DEPLOYER } from '../../../chain/contracts/deployments.js'
import type { ChainDefinition } from '../../../chain/definition/chainDefinition.js'
import type { NodeClient } from '../../../chain/nodeClient.js'
import { getCode } from '../../../chain/nodeReads.js'
import {
  doubtFinality,
  requireBlocks,
  requireCalldataFloor,
  requireEntryPoints,
} from '../../../chain/requireChain.js'
import { unixNow } from '../../../base/unixNow.js'
import { createEntryPoint } from '../../../erc4337/createEntryPoint.js'
import { isCanonicalCode } from '../../../erc4337/entryPointCode.js'
import { describeException } from '../../../erc4337/rules/index.js'
import { requireDataFee } from '../../../gas/dataPrice.js'
import { findTracer } from '../../../simulation/tracer.js'
import { type Finding, reporterOf } from '../finding.js'

type EntryPoints = ChainDefinition['entryPoints']

type ChainCheck = {
  readonly findings: readonly Finding[]
  /** Those that the service would serve. */
  readonly entryPoints: EntryPoints
}

/** Looks at the rules of a chain, the way in which it charges, and the contracts on it. */
export async function checkChain(
  node: NodeClient,
  definition: ChainDefinition,
): Promise<ChainCheck> {
  const [rules, blocks, floor, charging, contracts] = await Promise.all([
    chainRules(node, definition),
    blocksOf(node, definition),
    calldataFloor(node, definition),
    dataFee(node, definition),
    entryPointsOf(node, definition),
  ])
  const { entryPoints } = contracts
  const rest = await Promise.all([
    tracer(node, definition, entryPoints),
    tankFactory(node, definition),
  ])
  return {
    findings: [
      ...exceptions(definition),
      ...rules,
      ...blocks,
      ...floor,
      ...charging,
      ...contracts.findings,
      ...rest.flat(),
    ],
    entryPoints,
  }
}

/** The entities that may break rules. */
function exceptions({ chainId, ruleExceptions }: ChainDefinition): Finding[] {
  const report = reporterOf('configuration', chainId)
  return ruleExceptions.map((exception) => {
    const { text, hasEnded } = describeException(exception, unixNow())
    return hasEnded ? report.warning(text, 'remove it from ruleExceptions') : report.ok(text)
  })
}

async function chainRules(node: NodeClient, { chainId }: ChainDefinition): Promise<Finding[]> {
  const report = reporterOf('nodes', chainId)
  const { hash } = await node.head()
  const rules = await detectChainRules(node, hash)
  if (rules === undefined) {
    const remedy = 'our EVM does not support it: remove the chain, or upgrade Purser'
    return [report.fault("the chain's fork is older than Shanghai", remedy)]
  }
  const { next } = rules
  const now = `the chain runs by the rules of ${rules.fork}`
  const fork = report.ok(
    next ? `${now}, from ${isoTime(next.activation)} on by those of ${next.fork}` : now,
  )
  if (rules.readsByHash) return [fork]
  const text =
    'the node reads no state by block hash (EIP-1898), so each read is checked afterwards'
  return [fork, report.warning(text, 'use a node that does, to reduce load')]
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}

/** Whether blocks hold a bundle, have the tips that they must have, and become final as configured. */
async function blocksOf(node: NodeClient, definition: ChainDefinition): Promise<Finding[]> {
  const report = reporterOf('nodes', definition.chainId)
  const { maxBundleGas } = definition
  const [doubt, findings] = await Promise.all([
    doubtFinality(node, definition),
    asFinding(
      () => requireBlocks(node, definition),
      (text) => report.fault(text, 'correct it, or name the right preset'),
      () => report.ok(`blocks hold bundles of ${maxBundleGas} gas`),
    ),
  ])
  if (doubt === undefined) return findings
  const remedy = 'set facts.finalityDepth to that number; otherwise budgets are released too early'
  return [...findings, report.warning(doubt, remedy)]
}

/** Whether a chain that is to have no floor price of calldata has none. */
async function calldataFloor(node: NodeClient, definition: ChainDefinition): Promise<Finding[]> {
  const report = reporterOf('nodes', definition.chainId)
  if (definition.calldataFloor) return []
  return asFinding(
    () => requireCalldataFloor(node, definition),
    (text) => report.fault(text, 'correct it, or name the right preset'),
    () => report.ok('calldata has no floor price'),
  )
}

/** Whether the data fee, the stack's predeploys and the preset are those of the chain. */
async function dataFee(node: NodeClient, definition: ChainDefinition): Promise<Finding[]> {
  const report = reporterOf('contracts', definition.chainId)
  const { dataFee: kind = 'none' } = definition
  return asFinding(
    () => requireDataFee(node, definition),
    (text) => report.fault(text, 'correct facts.dataFee, or name the right preset'),
    () =>
      report.ok(
        kind === 'none'
          ? 'the chain charges no data fee'
          : `the data fee of the chain is that of ${kind}`,
      ),
  )
}

async function asFinding(
  run: () => Promise<unknown>,
  fault: (text: string) => Finding,
  ok: () => Finding,
): Promise<Finding[]> {
  try {
    await run()
    return [ok()]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [fault(error.message.replace(/\.$/, ''))]
  }
}

async function entryPointsOf(node: NodeClient, definition: ChainDefinition): Promise<ChainCheck> {
  const { chainId } = definition
  const report = reporterOf('contracts', chainId)
  try {
    const entryPoints = await requireEntryPoints(node, definition)
    const findings = await Promise.all(
      entryPoints.map(async ({ version, address }) => {
        const code = await getCode(node, address)
        const name = `EntryPoint ${version} at ${address}`
        if (isCanonicalCode(version, { address, code, chainId })) return report.ok(name)
        const text = `${name} has different code than the audited one`
        return report.fault(text, 'correct entryPoints; do not serve it unless you know why')
      }),
    )
    return { entryPoints, findings }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const text = error.message.replace(/\.$/, '')
    return { entryPoints: [], findings: [report.fault(text, 'see docs/operate/configuration.md')] }
  }
}

/** A node that traces validations decides what our EVM cannot run. */
async function tracer(
  node: NodeClient,
  { chainId }: ChainDefinition,
  entryPoints: EntryPoints,
): Promise<Finding[]> {
  const report = reporterOf('nodes', chainId)
  const [first] = entryPoints
  if (first === undefined) return []
  const kind = await findTracer(node, createEntryPoint(first.version, first.address))
  if (kind !== undefined) return [report.ok(`the node traces validations (${kind} tracer)`)]
  const text = 'the node traces no calls: an operation that our EVM cannot run is refused'
  return [
    report.warning(
      text,
      'serve debug_traceCall where operations need it (docs/operate/operations.md)',
    ),
  ]
}

async function tankFactory(
  node: NodeClient,
  { chainId, tankFactory: address }: ChainDefinition,
): Promise<Finding[]> {
  const report = reporterOf('contracts', chainId)
  if ((await getCode(node, address)) !== '0x') return [report.ok(`tank factory at ${address}`)]
  if ((await getCode(node, DETERMINISTIC_DEPLOYER)) !== '0x')
    return [
      report.ok(
        'no tank factory yet; purser contracts deploy makes it, and so does the first purser tank create',
      ),
    ]
  const text = `neither a tank factory nor the deterministic deployer ${DETERMINISTIC_DEPLOYER} is on the chain`
  const remedy = 'ask the chain to deploy it; without it there are no tanks, only mode native'
  return [report.warning(text, remedy)]
}
