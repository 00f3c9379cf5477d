import { pino } from 'pino'
import type { EngineChoice } from '../../../src/chain/definition/validationSettings.js'
import { startHeadFollower } from '../../../src/chain/headFollower.js'
import { createNodeClient } from '../../../src/chain/nodeClient.js'
import { createEntryPoint } from '../../../src/entrypoint/createEntryPoint.js'
import { createChainEngine, type ValidatedBy } from '../../../src/validation/chainEngine.js'
import { limitProfiles } from '../../../src/validation/erc7562/index.js'
import type { Compared } from '../../../src/validation/nodeWatch.js'
import { simulations } from '../simulations.js'
import type { EngineChain } from './engineChain.js'

/** The engine as the service makes it, on `rpcUrl`, and what it logs. */
export async function openChainEngine(
  rpcUrl: string,
  { chainId, entryPoint }: EngineChain,
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
  const ran: ValidatedBy[] = []
  const onValidated = (by: ValidatedBy) => ran.push(by)
  const compared: Compared[] = []
  const engine = await createChainEngine({
    node,
    heads,
    chainId,
    entryPoints,
    choice,
    simulations,
    logger,
    onBatch,
    onValidated,
    comparedShare,
    rules: {
      limits: limitProfiles.lenient,
      stakePolicy: { minimumStake: 0n, minimumUnstakeDelay: 0n },
    },
    onCompared: (outcome) => compared.push(outcome),
  })
  asked.length = 0
  return {
    engine,
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
export async function fundedOperation(chain: EngineChain, seed = 'someone') {
  const drafted = await chain.draft('counterfactual', seed)
  await chain.fund(drafted.sender)
  return chain.sign(drafted, seed)
}

/** What was logged for somebody to act. */
export function alarms(logged: readonly { level: number; msg: string }[]) {
  return logged.filter(({ level }) => level >= 50).map(({ msg }) => msg)
}
