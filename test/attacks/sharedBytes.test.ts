import { concatHex, type Hex, numberToHex, toFunctionSelector } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { rpc } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import { peakMemory, processorSecondsOf } from '../support/service/processUse.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * The attacker asks for a sponsorship. Thousands of elements of a `bytes[]` in his call data lie at the
 * same place, so that decoding makes 250 MB of 128 kB, for every policy and every call. It costs him one
 * request without a signature or money. Before: 69 s in which nobody was answered, and 4.1 GB.
 */

const purser = useRunningPurser()

/** Bytes of the largest call data that a request may have. */
const LARGEST = 128 * 1_024

/** Seconds of the processor: ten times what an honest request of that size takes on a slow machine. */
const BOUND = 3
/** MB: one decoding of the attack was more. */
const MEMORY_BOUND = 250

beforeAll(async () => {
  const { url, authToken } = purser().info
  const headers = { authorization: `Bearer ${authToken}`, 'content-type': 'application/json' }
  const apps = await fetch(`${url}/admin/v1/apps`, { headers })
  const { items } = (await apps.json()) as { items: { id: string }[] }
  const appId = items[0]?.id
  const called = { target: 'any', function: 'store(bytes[])', where: { '0.0': { $eq: '0x' } } }
  for (const index of Array.from({ length: 5 }, (_, position) => position)) {
    const allow = [
      called,
      { ...called, function: 'store(bytes[],uint256)', where: { '1': { $eq: '7' } } },
    ]
    const body = JSON.stringify({ appId, name: `policy ${index}`, terms: { calls: { allow } } })
    const answer = await fetch(`${url}/admin/v1/policies`, { method: 'POST', headers, body })
    expect(answer.status, await answer.text()).toBe(201)
  }
})

function words(...values: readonly number[]): Hex {
  return concatHex(values.map((value) => numberToHex(value, { size: 32 })))
}

/** A `bytes[]` in which half of `size` bytes are offsets, all of the other half. */
function sharedBytes(size: number): Hex {
  const elements = Math.floor(size / 64)
  const blob = elements * 32
  const offsets = words(...Array.from({ length: elements }, () => blob))
  return concatHex([words(elements), offsets, words(blob), `0x${'ab'.repeat(blob)}`])
}

function batchOf(size: number): Hex {
  const bytes = sharedBytes(size - 4_000)
  return concatHex([toFunctionSelector('executeBatch(address[],bytes[])'), words(64, 96, 0), bytes])
}

/** One readable call whose argument is the shared bytes. */
function argumentOf(size: number): Hex {
  const argument = sharedBytes(size - 4_000)
  const data = concatHex([toFunctionSelector('store(bytes[])'), words(32), argument])
  const length = (data.length - 2) / 2
  return concatHex([
    toFunctionSelector('execute(address,uint256,bytes)'),
    words(1, 0, 96, length),
    data,
  ])
}

/** Several overlapping tuples, each a call. */
function tuplesOf(size: number): Hex {
  const elements = Math.floor((size - 4_000) / 64)
  const offsets = words(...Array.from({ length: elements }, () => elements * 32))
  const tuple = concatHex([words(1, 0, 96, elements * 32), `0x${'ab'.repeat(elements * 32)}`])
  const selector = toFunctionSelector('executeBatch((address,uint256,bytes)[])')
  return concatHex([selector, words(32, elements), offsets, tuple])
}

test.each([
  ['a batch', batchOf],
  ['the argument of a call', argumentOf],
  ['tuples of a batch', tuplesOf],
])('%s whose elements share their bytes is refused in the time of its bytes', async (_, dataOf) => {
  const { info } = purser()
  const { account } = await devAccount(info, 'shared bytes')
  const draft = { ...(await account.draft({ to: account.address })), callData: dataOf(LARGEST) }
  const operation = toInterfaceOperation(draft)
  const ask = async () => {
    const { body } = await rpc(info.paymasterUrl, 'pm_sponsorUserOperation', [
      operation,
      { mode: 'SPONSORED', calculateGasLimits: true },
    ])
    // No policy pays, so the account would, whose call may revert.
    expect([undefined, -32_521]).toContain(body.error?.code)
  }
  const held = peakMemory(info.pid)
  const seconds = await processorSecondsOf(info.pid, ask)
  const memory = peakMemory(info.pid) - held
  expect(seconds).toBeLessThan(BOUND)
  expect(memory).toBeLessThan(MEMORY_BOUND)
})
