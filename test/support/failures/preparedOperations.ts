import type { Hex } from 'viem'
import type { Json } from '../http/jsonRpc.js'
import { until } from '../until.js'
import { type FailureWorld, POOL_SIZE } from './failureWorld.js'
import { callData } from './hostileParts.js'
import type { FailurePlace, PreparedFailure } from './preparedFailure.js'

/** The place of an operation, once `isSo` holds of it. */
async function placeOf(
  { info: { chainId }, admin }: FailureWorld,
  hash: Hex,
  isSo: (operation: Json) => boolean,
): Promise<FailurePlace> {
  const path = `/operations/${chainId}/${hash}`
  await until(async () => isSo(await admin('GET', path)))
  return { path, command: ['operation', 'show', hash, '--chain', String(chainId)] }
}

function ended(state: string) {
  return (operation: Json) => operation.state === state
}

/** Seconds for which a signature is good that then ends in the pool. */
const LIFE = 120

/** Operations that were acknowledged and did not go the usual way. */
export const preparedOperations: readonly PreparedFailure[] = [
  {
    name: 'reorged',
    async prepare(world, { operationOf, placeSettable, send, tester }) {
      const hash = await send(await operationOf(await placeSettable()))
      await placeOf(world, hash, ended('included'))
      await tester.request({ method: 'anvil_reorg', params: [1, []] } as never)
      return placeOf(
        world,
        hash,
        ({ state, timeline }) =>
          state === 'included' && timeline.some(({ kind }: Json) => kind === 'reorged'),
      )
    },
    code: 'REORGED',
    says: [/block \d+ with transaction 0x[0-9a-f]{64} left the chain/],
    step: /Read the receipt again/,
  },
  {
    name: 'replaced',
    prepare: (world, { operationOf, placeSettable, send }) =>
      world.unbundled(async () => {
        const op = await operationOf(await placeSettable())
        const hash = await send(op)
        const { maxFeePerGas, maxPriorityFeePerGas } = op
        const raised = {
          maxFeePerGas: maxFeePerGas * 2n,
          maxPriorityFeePerGas: maxPriorityFeePerGas * 2n,
        }
        await send({ ...op, ...raised })
        return placeOf(world, hash, ended('replaced'))
      }),
    code: 'REPLACED',
    says: [/replaced by operation 0x[0-9a-f]{64} with higher fees/],
    step: /Wait for the replacement/,
  },
  {
    name: 'evicted',
    prepare: (world, { operationOf, placeSettable, send, fees }) =>
      world.unbundled(async () => {
        const { maxFeePerGas, maxPriorityFeePerGas } = await fees()
        const times = (factor: bigint) => ({
          maxFeePerGas: maxFeePerGas * factor,
          maxPriorityFeePerGas: maxPriorityFeePerGas * factor,
        })
        const cheapest = await send(await operationOf(await placeSettable(), times(1n)))
        for (let others = 1; others < POOL_SIZE; others++)
          await send(await operationOf(await placeSettable(), times(2n)))
        await send(await operationOf(await placeSettable(), times(3n)))
        return placeOf(world, cheapest, ended('dropped'))
      }),
    code: 'EVICTED',
    says: [/the pool was full and operation 0x[0-9a-f]{64} bid more/],
    step: /Send it again later or with higher fees/,
  },
  {
    name: 'dropped',
    async prepare(world, { operationOf, placeSettable, send, set }) {
      const hash = await world.unbundled(async () => {
        const account = await placeSettable()
        const sent = await send(await operationOf(account))
        await set(account, true)
        return sent
      })
      return placeOf(world, hash, ended('dropped'))
    },
    code: 'AA23',
    says: [/AA23 reverted: not in the mood/],
    step: /comes from the account/,
  },
  {
    name: 'reverted',
    async prepare(world, { operationOf, placeSettable, send }) {
      const op = await operationOf(await placeSettable(), { callData: callData.fail('sold out') })
      return placeOf(world, await send(op), ended('included'))
    },
    code: 'CALL_REVERTED',
    says: [/sold out/, /actualGasCost \d+/],
    step: /sign a new operation with the next nonce/,
  },
  {
    name: 'expired',
    async prepare(world, { operationOf, placeSettable, send, set, tester, client }) {
      const hash = await world.unbundled(async () => {
        const account = await placeSettable()
        const { timestamp } = await client.getBlock()
        const now = Math.max(Number(timestamp), Math.floor(Date.now() / 1_000))
        await set(account, false, BigInt(now + LIFE) << 160n)
        const sent = await send(await operationOf(account))
        await tester.setNextBlockTimestamp({ timestamp: BigInt(now + LIFE + 30) })
        await tester.mine({ blocks: 1 })
        const mined = Number(await client.getBlockNumber({ cacheTime: 0 }))
        await until(async () => (await world.admin('GET', '/chains')).items[0].head >= mined)
        return sent
      })
      return placeOf(world, hash, ended('dropped'))
    },
    code: 'EXPIRED',
    says: [
      /valid until (\d{10} \(\d{4}-\S+:\d\d\.000Z\)), a bundle must be valid until \d{10} \(\d{4}-\S+Z\)/,
    ],
    step: /Sign again with a later end/,
  },
]
