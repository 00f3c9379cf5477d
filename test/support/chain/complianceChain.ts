import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeOperation } from '../../../src/api/dialects/operationFields.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import type { ChainInput } from '../../../src/chain/definition/chainDefinition.js'
import type { EntryPoint, Version } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { type Json, type RpcAnswer, result, rpc } from '../http/jsonRpc.js'
import { createTenant } from '../service/createTenant.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../service/startPurser.js'
import { type ActorChain, MINIMUM_STAKE, openActorChain, UNSTAKE_DELAY } from './actorChain.js'
import type { Anvil } from './startAnvil.js'

const CHAIN_ID = 7_562
const OPERATOR_TOKEN = 'operator-of-the-compliance-chain'

/** A service with `debug_bundler_*` on a chain with every EntryPoint, as its operator runs it. */
export type ComplianceChain = ActorChain & {
  send(entryPoint: EntryPoint, op: Operation): Promise<RpcAnswer['body']>
  debug(method: string, ...params: unknown[]): Promise<Json>
  call(method: string, ...params: unknown[]): Promise<Json>
  /** As Prometheus reads them. */
  metrics(): Promise<string>
  stop(): Promise<void>
}

export async function openComplianceChain(
  versions: readonly Version[],
  settings: Partial<ChainInput> = {},
): Promise<ComplianceChain> {
  const folder = makeDataFolder()
  const chain = await openActorChain(versions, CHAIN_ID)
  const { anvil, entryPoints } = chain
  const service = await serve(folder, anvil, [...entryPoints.values()], settings)
  const url = `${urlOf(service)}/api/v3/${CHAIN_ID}/${service.apiKey}`
  return {
    ...chain,
    send: async (entryPoint, op) => {
      const params = [encodeOperation(op, entryPoint.version), entryPoint.address]
      return (await rpc(url, 'eth_sendUserOperation', params)).body
    },
    debug: (method, ...params) => result(url, `debug_bundler_${method}`, params),
    call: (method, ...params) => result(url, method, params),
    metrics: async () => {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
      return (await fetch(`${urlOf(service)}/metrics`, { headers })).text()
    },
    async stop() {
      await service.end('SIGTERM')
      await anvil.stop()
      removeDataFolder(folder)
    },
  }
}

async function serve(
  folder: string,
  anvil: Anvil,
  entryPoints: readonly EntryPoint[],
  settings: Partial<ChainInput>,
): Promise<RunningService & { apiKey: string }> {
  const chain = {
    chainId: CHAIN_ID,
    rpcUrls: [anvil.nodeUrl],
    entryPoints: entryPoints.map(({ version, address }) => ({ version, address })),
    executorKeys: [devKey(1)],
    maxOperationsPerSender: 4,
    minimumStake: MINIMUM_STAKE.toString(),
    // By default an operation that a bundle can hold is not too large for LIM-010.
    facts: { pollInterval: 50, minimumUnstakeDelay: UNSTAKE_DELAY, maxBundleBytes: 120_000 },
    ...settings,
  }
  const PURSER_CONFIG = join(folder, 'purser.json')
  const config = { chains: [chain], port: 0, logLevel: 'warn', debugMethods: true }
  const secrets = { PURSER_CONFIG, PURSER_OPERATOR_TOKEN: OPERATOR_TOKEN }
  writeFileSync(PURSER_CONFIG, JSON.stringify(config))
  const { apiKey } = await createTenant(folder, 'compliance')
  const service = await startService(['serve', '--data', folder, '--drain-seconds', '0'], secrets)
  return { ...service, apiKey }
}
