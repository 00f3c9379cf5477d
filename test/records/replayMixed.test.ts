import { type Address, encodeFunctionData, type Hex, parseAbi, parseEther, zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import type { OperationReceipt } from '../../src/bundler/operationViews.js'
import type { AccountCall } from '../../src/cli/devnet/simpleAccount.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { toHex } from '../../src/evm/index.js'
import { findWitness } from '../../src/mempool/witnesses.js'
import { replayOperation } from '../../src/records/replay/replayOperation.js'
import { replayWitness } from '../../src/simulation/replayWitness.js'
import { openWitness, packWitness } from '../../src/simulation/witness.js'
import { RUNS_IN_FULL } from '../support/runs.js'
import { approval, runs, tokenTankChain, transfer } from '../support/tanks/tokenTankChain.js'
import { until } from '../support/until.js'
import { TARGET, VERSIONS } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/* Mixed operations of all versions and payers, of which a fifth fail, are repeated when their chain is gone. */

const MOST = 2n ** 256n - 1n
const withdrawal = encodeFunctionData({
  abi: parseAbi(['function withdrawDepositTo(address to, uint256 amount)']),
  args: [TARGET, 1n],
})

/** Twelve ways to fail: a call of the tests' Target, or what is called instead. */
const failures: readonly {
  readonly call?: readonly [string, ...unknown[]]
  readonly value?: bigint
  readonly limit?: bigint
  readonly callData?: Hex
}[] = [
  { call: ['fail', 'sold out'] },
  { call: ['failCustom'] },
  { call: ['failLong', 5_000n] },
  { call: ['nest', 3n, 40n] },
  { call: ['write', MOST, 2n] },
  { call: ['burn', 10_000_000n] },
  { call: ['fresh'], limit: 15_000n },
  { call: ['write', 0n, 2n], limit: 1n },
  { call: ['fail', 'never'], value: MOST },
  { call: ['fail', 'paid'], value: 1n },
  { callData: '0xdeadbeef' },
  { callData: withdrawal },
]

const works: readonly (readonly [string, ...unknown[]])[] = [
  ['write', 0n, 2n],
  ['swallow', 40n],
  ['write', 7n, 1n],
]

/** Operations in a round of one version, each of another sender; every third is paid in another way. */
const SENDERS = 10
const ROUNDS = RUNS_IN_FULL ? 25 : 2

const opened = useWorld({ definition: { maxOperationsPerSender: 100 } })

/** The operations of a round: every fifth fails, in the ways that come next. */
async function createParty(version: Version) {
  const world = opened()
  const chain = world.at(version)
  const tokens = tokenTankChain(chain)
  const tank = await chain.createTank(0, { wei: parseEther('50') })
  const tokenTank = await tokens.createTokenTank(1, parseEther('50'))
  const token = tokens.tokens[0]!.address
  const users: Address[] = []
  for (let at = 0; at < SENDERS; at++) {
    const seed = `mixed ${version} ${at}`
    if (at % 3 !== 2) {
      await chain.fund((await chain.draft('deployed', seed)).sender, parseEther('10'))
      continue
    }
    const user = await tokens.createUser(seed, token)
    await tokens.transact(user, runs([approval(token, tokenTank)]))
    users[at] = user
  }

  const drafted = async (at: number, call: AccountCall): Promise<Operation> => {
    const user = users[at]
    if (user === undefined) return chain.accountDraft(`mixed ${version} ${at}`, call)
    const { to, data = '0x' } = call
    return tokens.userOp(user, tokenTank, runs([{ to, data }]))
  }

  return async (at: number, way: number | undefined): Promise<Operation> => {
    // A TokenUser sends no value and takes any call.
    const ways = users[at] === undefined ? failures : failures.slice(0, 8)
    const failure = way === undefined ? undefined : ways[way % ways.length]
    const { call, value = 0n, limit = 200_000n, callData } = failure ?? {}
    // Slots that nobody wrote yet: what others of the bundle have touched costs less.
    const fresh = ['write', 1_000n * BigInt((way ?? 0) + 1), 2n] as const
    const asked = call?.[0] === 'fresh' ? fresh : call
    const named = asked ?? (failure ? undefined : works[at % works.length])
    const target = named ? chain.onTarget(...(named as [string, ...unknown[]])) : { to: TARGET }
    const gift = transfer(token, TARGET, 5n)
    const isGift = users[at] !== undefined && failure === undefined
    const draft = await drafted(at, isGift ? gift : { ...target, value })
    const op = { ...draft, callGasLimit: limit, ...(callData && { callData }) }
    if (users[at] !== undefined) {
      const quote = tokens.quoteFor(token, { treasury: zeroAddress })
      return tokens.sign(tokens.pay(op, quote), `mixed ${version} ${at}`)
    }
    const paid = at % 3 === 1 ? await chain.sponsor(op, tank) : op
    return chain.sign(paid, `mixed ${version} ${at}`)
  }
}

function factsOf({ receipt }: OperationReceipt) {
  return {
    status: receipt.status,
    gasUsed: receipt.gasUsed,
    logs: receipt.logs.map(({ address, topics, data }) => ({ address, topics, data })),
  }
}

test('status, logs, revert data and gas are those of the receipt, to the unit', {
  timeout: RUNS_IN_FULL ? 3_600_000 : 240_000,
}, async () => {
  const world = opened()
  const { chainId } = world.definition
  const receipts = new Map<Hex, OperationReceipt>()
  const mined = new Map<Hex, OperationReceipt>()
  const findMined = (hash: Hex) => findWitness(world.database, chainId, hash, 'transaction')
  // Those in which nothing failed are kept when somebody looks, while the node has their state.
  const keepRound = async (hashes: readonly Hex[]) => {
    for (const hash of hashes) {
      const receipt = await world.receipt(hash)
      receipts.set(hash, receipt)
      mined.set(receipt.receipt.transactionHash, receipt)
    }
    for (const hash of mined.keys())
      await until(async () => {
        if (await findMined(hash)) return true
        expect(await world.services.witnesses.mined(hash), hash).toBeDefined()
        return false
      })
  }
  const hashes: Hex[] = []
  const parties = new Map<Version, Awaited<ReturnType<typeof createParty>>>()
  for (const version of VERSIONS) parties.set(version, await createParty(version))
  const ways = new Map<Hex, number>()
  for (let round = 0; round < ROUNDS; round++)
    for (const version of VERSIONS) {
      for (let at = 0; at < SENDERS; at++) {
        const way = (at + round) % 5 === 0 ? ways.size : undefined
        const op = await parties.get(version)!(at, way)
        const hash = await world.admit(op, world.at(version).entryPoint)
        if (way !== undefined) ways.set(hash, way)
        hashes.push(hash)
      }
      await world.settle()
      await keepRound(hashes.slice(-SENDERS))
    }

  await world.anvil.stop()

  let largest = 0
  for (const [hash, each] of mined) {
    const { witness, codes } = (await findMined(hash))!
    const packed = packWitness(witness)
    const { result } = replayWitness(openWitness(packed), codes)
    const logs = result.logs.map((log) => ({ ...log, data: toHex(log.data) }))
    const again = { status: result.success ? 1 : 0, gasUsed: BigInt(result.gasUsed), logs }
    expect(again).toEqual(factsOf(each))
    const at = Number(BigInt(hash) % BigInt(packed.bytes.length))
    const changed = Uint8Array.from(packed.bytes)
    changed[at] = changed[at]! ^ 1
    expect(() => openWitness({ ...packed, bytes: changed })).toThrow(/was changed/)
    largest = Math.max(largest, packed.bytes.length)
  }
  let failed = 0
  const faults = new Set<string>()
  for (const [userOpHash, { success, reason, actualGasUsed, actualGasCost }] of receipts) {
    const request = { chainId, accountId: undefined, userOpHash }
    const replay = await replayOperation(world.database, request)
    expect(replay).toMatchObject({
      moment: 'mined',
      success,
      revertData: reason ?? '0x',
      actualGasUsed: String(actualGasUsed),
      actualGasCost: String(actualGasCost),
    })
    const fault = replay.frames.filter(({ isFault }) => isFault)
    expect(fault).toHaveLength(success ? 0 : 1)
    if (success) continue
    failed++
    faults.add(`${fault[0]?.error} ${replay.reason} ${fault[0]?.role}`)
  }
  expect(hashes).toHaveLength(ROUNDS * SENDERS * VERSIONS.length)
  const succeeded = [...ways].filter(([hash]) => receipts.get(hash)?.success)
  expect(succeeded.map(([, way]) => way)).toEqual([])
  expect([failed, ways.size]).toEqual([hashes.length / 5, hashes.length / 5])
  expect(faults.size).toBeGreaterThanOrEqual(8)
  process.stdout.write(
    `${hashes.length} operations in ${mined.size} bundles, ${failed} failed in ${faults.size} ways; the largest witness has ${largest} bytes\n`,
  )
})
