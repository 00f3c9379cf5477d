import { parseEther } from 'viem'
import { toInterfaceOperation } from '../../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { result } from '../http/jsonRpc.js'
import { devAccount } from '../service/devAccount.js'
import { until } from '../until.js'
import type { FailureWorld } from './failureWorld.js'
import type { FailurePlace, PreparedFailure } from './preparedFailure.js'

/** Sends an operation that must be refused; the refusal is found by the request id of the answer. */
async function refused(
  world: FailureWorld,
  op: Operation,
  method = 'eth_sendUserOperation',
  url = world.info.bundlerUrl,
): Promise<FailurePlace> {
  const params = [toInterfaceOperation(op), world.info.entryPoints['0.6']]
  const { error, requestId } = await world.ask(url, method, params)
  if (error === undefined) throw new Error('the operation was taken')
  const id: string = await until(async () => {
    const { items } = await world.admin('GET', `/search?q=${requestId}`)
    return items[0]?.id
  })
  return { path: `/refusals/${id}`, command: ['refusal', 'show', id] }
}

/** Requests about operations that are answered with an error. */
export const preparedRefusals: readonly PreparedFailure[] = [
  {
    name: 'AA21',
    prepare: async (world, parts) =>
      refused(world, await parts.operationOf(await parts.placeSettable(1_000n))),
    code: 'AA21',
    says: [/needs \d+ wei, the account has 1000 and 0 deposited, \d+ wei are missing/],
    step: /Fund the account/,
  },
  {
    name: 'AA24',
    async prepare(world) {
      const dev = await devAccount(world.info, 'signs too early')
      const op = await dev.selfPaid()
      return refused(world, { ...op, callGasLimit: op.callGasLimit + 1n })
    },
    code: 'AA24',
    says: [/the hash of the operation is 0x\S+ on chain \d+ with EntryPoint v0\.6 0x/],
    step: /Sign last/,
  },
  {
    name: 'AA25',
    prepare: async (world, parts) =>
      refused(world, await parts.operationOf(await parts.placeSettable(), { nonce: 5n })),
    code: 'AA25',
    says: [/the operation has nonce 5, the account is at 0, and 0 is not pending/],
    step: /Read the next nonce/,
  },
  {
    name: 'AA31',
    async prepare(world, parts) {
      const paymaster = await parts.placeSettable()
      return refused(world, await parts.operationOf(await parts.placeSettable(), { paymaster }))
    },
    code: 'AA31',
    says: [/needs \d+ wei, paymaster 0x[0-9a-f]{40} has 0 deposited, \d+ wei are missing/],
    step: /Fund it; for a tank/,
  },
  {
    name: 'AA33 with a reason',
    async prepare(world, parts) {
      const paymaster = await parts.placeSettable()
      await parts.deposit(paymaster)
      await parts.set(paymaster, true)
      return refused(world, await parts.operationOf(await parts.placeSettable(), { paymaster }))
    },
    code: 'AA33',
    says: [/AA33 reverted: not in the mood/],
    step: /comes from the paymaster/,
  },
  {
    name: 'STO rule',
    async prepare(world, parts) {
      const other = await parts.placeSettable()
      const signature = `0x${other.slice(2).padStart(64, '0')}` as const
      return refused(world, await parts.operationOf(await parts.placePeeking(), { signature }))
    },
    code: 'STO-033',
    says: [/account reads slot 0x[0-9a-f]{64} of 0x[0-9a-f]{40}: .* \(STO-033\)/],
    step: /account's own storage/,
  },
  {
    name: 'fee too low',
    prepare: async (world, parts) =>
      refused(
        world,
        await parts.operationOf(await parts.placeSettable(), {
          maxFeePerGas: 1n,
          maxPriorityFeePerGas: 1n,
        }),
      ),
    code: '-32006',
    says: [/maxPriorityFeePerGas in userOp: 1 is lower than expected maxPriorityFeePerGas: \d+/],
    step: /fees from pimlico_getUserOperationGasPrice or biconomy_getGasFeeValues/,
  },
  {
    name: 'wrong chain',
    async prepare(world, parts) {
      const op = await parts.operationOf(await parts.placeSettable())
      const url = world.info.bundlerUrl.replace(`/${world.info.chainId}/`, '/10/')
      return refused(world, op, 'eth_sendUserOperation', url)
    },
    code: 'CHAIN_NOT_SERVED',
    says: [/chainId: 10 not supported by the Bundler\. Supported: \d+/],
    step: /chain that the message lists/,
  },
  {
    name: 'unknown key',
    async prepare({ info, ask }) {
      const url = info.bundlerUrl.replace(info.apiKey, `${info.apiKey.slice(0, -1)}_`)
      const { error } = await ask(url, 'eth_chainId', [])
      // It is nobody's: the answer itself names the code, and the operator has the count.
      return { path: `/explain?code=${error?.data.rule}`, command: undefined }
    },
    code: 'KEY_UNKNOWN',
    says: [],
    step: /Create a new one \(`purser key create`\)/,
  },
  {
    name: 'node away',
    async prepare(world, parts) {
      const account = await parts.placeSettable(parseEther('2'))
      const op = await parts.operationOf(account)
      await world.node.begin({ kind: 'stopped' })
      try {
        return await refused(world, op)
      } finally {
        await world.node.end()
        await until(async () => {
          const params = [toInterfaceOperation(op), parts.entryPoint]
          return result(world.info.bundlerUrl, 'eth_estimateUserOperationGas', params).catch(
            () => undefined,
          )
        })
      }
    },
    code: 'NODE_UNAVAILABLE',
    says: [/node is not available .*Try again shortly/],
    step: /Send it again after `retry-after` seconds/,
  },
]
