import type { EntryPoint } from '../../src/erc4337/entryPoint.js'
import type { Fleet } from '../load/fleet.js'
import { send } from '../load/measureLoad.js'
import type { OwnService } from '../load/ownService.js'
import { cpuBetween, usageOf } from '../load/processUsage.js'
import type { RpcClient } from '../load/rpcClient.js'
import { type Latency, latencyOf } from '../load/statistics.js'
import type { Inclusions } from '../load/watchInclusions.js'

/** Milliseconds: latencies, and CPU per request of the service and of its database. */
export type RequestFigure = {
  readonly latency: Latency
  readonly serviceCpu: number
  readonly databaseCpu: number
}

/** By the kind of request. */
export type RequestFigures = Readonly<Record<string, RequestFigure>>

type Context = {
  /** One per app; they take turns. */
  readonly clients: readonly RpcClient[]
  readonly entryPoint: EntryPoint
  readonly fleet: Fleet
  readonly inclusions: Inclusions
  readonly pids: OwnService['pids']
}

/** One request after the other, `samples` of each kind. What is sent is included before the next kind. */
export async function measureRequests(
  { clients, entryPoint, fleet, inclusions, pids }: Context,
  samples: number,
): Promise<RequestFigures> {
  const operations = await fleet.operations(samples)
  const hashes = operations.map(({ hash }) => hash)
  const unsigned = [fleet.unsigned(), entryPoint.address]
  const clientOf = (round: number) => clients[round % clients.length] as RpcClient
  const asking = (method: string, paramsOf: (round: number) => readonly unknown[]) => (i: number) =>
    clientOf(i)
      .call(method, paramsOf(i))
      .then(({ ms }) => ms)

  const figureOf = async (ask: (round: number) => Promise<number>): Promise<RequestFigure> => {
    const read = () => [usageOf(pids.service), usageOf(pids.database)] as const
    const [serviceBefore, databaseBefore] = read()
    const times: number[] = []
    for (let round = 0; round < samples; round++) times.push(await ask(round))
    const [serviceAfter, databaseAfter] = read()
    const perRequest = (seconds: number) => (seconds * 1_000) / samples
    return {
      latency: latencyOf(times),
      serviceCpu: perRequest(cpuBetween(serviceBefore, serviceAfter)),
      databaseCpu: perRequest(cpuBetween(databaseBefore, databaseAfter)),
    }
  }

  const sent = await figureOf(async (i) => {
    const operation = operations[i]
    if (operation === undefined) throw new Error('there is an operation per round')
    return send({ bundler: clientOf(i), entryPoint }, operation)
  })
  await inclusions.all(hashes)
  return {
    send: sent,
    estimate: await figureOf(asking('eth_estimateUserOperationGas', () => unsigned)),
    receipt: await figureOf(asking('eth_getUserOperationReceipt', (i) => [hashes[i]])),
    status: await figureOf(asking('biconomy_getUserOperationStatus', (i) => [hashes[i]])),
    fee: await figureOf(asking('biconomy_getGasFeeValues', () => [])),
  }
}
