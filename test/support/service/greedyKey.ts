import type { DevInfo } from '../../../src/cli/devInfo.js'
import { toInterfaceOperation } from '../../../src/cli/devnet/simpleAccount.js'
import { type RpcAnswer, result, rpc } from '../http/jsonRpc.js'
import { expensiveCode } from './expensiveCode.js'
import { devAccount, TARGET } from './devAccount.js'
import { hostileAccount } from './hostileAccount.js'

/** Requests that the greedy key has under way: of the most expensive runs allowed, and of the most expensive light runs. */
const MOST_EXPENSIVE = 12
const NEARLY_HEAVY = 24

/** Estimates of one key, each as expensive as allowed, that come again and again until `stop`. */
export async function askGreedily(info: DevInfo, url: string) {
  const entryPoint = info.entryPoints['0.7']
  const { operation: mostExpensive } = await hostileAccount(
    info,
    'mostExpensive',
    expensiveCode(700),
    '0x01',
  )
  const { operation: nearlyHeavy } = await hostileAccount(info, 'nearly', expensiveCode(24), '0x01')
  const answers: RpcAnswer[] = []
  let isOver = false
  const keepAsking = async (operation: unknown) => {
    try {
      while (!isOver)
        answers.push(await rpc(url, 'eth_estimateUserOperationGas', [operation, entryPoint]))
    } catch (error) {
      // The service may be ended before it has answered.
      if (!isOver) throw error
    }
  }
  const asking = [
    ...Array.from({ length: MOST_EXPENSIVE }, () => keepAsking(mostExpensive)),
    ...Array.from({ length: NEARLY_HEAVY }, () => keepAsking(nearlyHeavy)),
  ]
  return {
    answers,
    /** Asks no more; resolves when the last answer has come. */
    async stop() {
      isOver = true
      await Promise.all(asking)
    },
  }
}

/** Milliseconds that `body` takes, each of `count` times. */
export async function timesOf(count: number, body: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const begin = performance.now()
    await body()
    times.push(performance.now() - begin)
  }
  return times
}

/** The modest requests of another key: the chain's id, an ordinary estimate, an estimate with heavy runs. */
export async function modestRequests(info: DevInfo, url: string) {
  const { account, fund } = await devAccount(info, 'modest')
  await fund()
  const operation = toInterfaceOperation(await account.draft({ to: TARGET }))
  const { operation: heavy } = await hostileAccount(info, 'modest heavy', expensiveCode(50), '0x01')
  const estimate = (op: unknown, entryPoint: unknown) =>
    result(url, 'eth_estimateUserOperationGas', [op, entryPoint])
  return {
    chainId: () => result(url, 'eth_chainId', []),
    estimate: () => estimate(operation, info.entryPoints['0.6']),
    heavyEstimate: () => estimate(heavy, info.entryPoints['0.7']),
  }
}
