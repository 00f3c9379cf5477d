import { pino } from 'pino'
import { startHeadFollower } from '../../../src/chain/headFollower.js'
import { createNodeClient } from '../../../src/chain/nodeClient.js'
import { createEntryPoint } from '../../../src/erc4337/createEntryPoint.js'
import { limitProfiles } from '../../../src/erc4337/rules/index.js'
import type { EngineChoice } from '../../../src/erc4337/validationSettings.js'
import { createChainEngine } from '../../../src/simulation/chainEngine.js'
import { recordMetrics } from '../recordMetrics.js'
import { simulations } from '../simulations.js'
import type { VersionChain } from '../world/versionChain.js'

/** The engine as the service makes it for itself, on `rpcUrl`, and what it logs. */
export async function openChainEngine(
  rpcUrl: string,
  { chainId, entryPoint }: VersionChain,
  choice: EngineChoice = 'auto',
  comparedShare = 0,
) {
  const logged: { level: number; msg: string }[] = []
  const logger = pino({ level: 'info' }, { write: (line) => logged.push(JSON.parse(line)) })
  const node = createNodeClient({ urls: [rpcUrl], logger })
  const definition = { chainId, pollInterval: 60_000 }
  const heads = await startHeadFollower({ node, definition, logger })
  const { version, address } = entryPoint
  const entryPoints = [createEntryPoint(version, address)]
  const asked: number[] = []
  const onBatch = (calls: number) => asked.push(calls)
  const ran: string[] = []
  const compared: string[] = []
  const metrics = recordMetrics(({ engine, outcome }) => {
    if (engine !== undefined) ran.push(engine)
    if (outcome !== undefined) compared.push(outcome)
  })
  const engine = await createChainEngine({
    node,
    heads,
    chainId,
    entryPoints,
    choice,
    simulations,
    logger,
    onBatch,
    metrics,
    comparedShare,
    rules: {
      limits: limitProfiles.lenient,
      stakePolicy: { minimumStake: 0n, minimumUnstakeDelay: 0n },
    },
  })
  asked.length = 0
  return {
    engine: { ...engine, ...engine.by(undefined) },
    logged,
    asked,
    ran,
    compared,
    async close() {
      engine.stop()
      heads.stop()
      await node.close()
    },
  }
}

/** A signed operation of a new sender that has money. */
export async function fundedOperation(chain: VersionChain, seed = 'someone') {
  const drafted = await chain.draft('counterfactual', seed)
  await chain.fund(drafted.sender)
  return chain.sign(drafted, seed)
}

/** What was logged for somebody to act. */
export function alerts(logged: readonly { level: number; msg: string }[]) {
  return logged.filter(({ level }) => level >= 50).map(({ msg }) => msg)
}
