import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, keccak256, parseEther, stringToHex } from 'viem'
import { type BlockEnv, call, type Fork, overlay, type State } from '../../src/evm/index.js'
import { latestBlock, startReference } from './anvil.js'
import {
  buildCase,
  nodeSummary,
  ourSummary,
  requestsFor,
  type Summary,
  signAuthorizations,
  type Trace,
} from './differential.js'

/**
 * What an anvil, or geth from Amsterdam on, made of the cases of many seeds, kept so that it can be compared without one. The cases
 * themselves follow from their seeds: after a change of `buildCase` the file must be made anew.
 */
export type StoredVectors = {
  readonly fork: Fork
  /** The block they ran in; quantities in decimal. */
  readonly block: Readonly<Record<'number' | 'timestamp' | 'gasLimit' | 'baseFee', string>> & {
    readonly prevRandao: `0x${string}`
    readonly coinbase: Address
  }
  /** Seed, gas used, and the digest of everything else in the summary. */
  readonly cases: readonly (readonly [seed: number, gasUsed: number, digest: string])[]
}

const CHAIN_ID = 31_337n
const BATCH = 50
const RICH: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/** anvil's state before any transaction, as far as the cases touch it. */
const genesis: State = {
  account: (address) => ({
    nonce: 0n,
    balance: address === RICH ? parseEther('10000') : 0n,
    code: new Uint8Array(0),
  }),
  slot: () => 0n,
}

function fileOf(fork: Fork) {
  return join(import.meta.dirname, 'vectors', `${fork}.json`)
}

export function readStored(fork: Fork): StoredVectors {
  return JSON.parse(readFileSync(fileOf(fork), 'utf8')) as StoredVectors
}

/** Has a node of this fork run the cases of `count` seeds, and keeps what it said. */
export async function writeStored(fork: Fork, firstSeed: number, count: number): Promise<void> {
  const anvil = await startReference(fork)
  try {
    const signed = await signAuthorizations()
    const block = await latestBlock(anvil, fork)
    const cases: StoredVectors['cases'][number][] = []
    for (let at = 0; at < count; at += BATCH) {
      const size = Math.min(BATCH, count - at)
      const batch = Array.from({ length: size }, (_, i) =>
        buildCase(firstSeed + at + i, signed, fork),
      )
      const requests = batch.map((each) => requestsFor(each, block)[0]!)
      const answers = await anvil.batch(requests)
      for (const [i, { result, error }] of answers.entries()) {
        if (error !== undefined) throw new Error(error.message)
        const summary = nodeSummary(result as Trace)
        cases.push([batch[i]!.seed, summary.gasUsed, digestOf(summary)])
      }
    }
    const { number, timestamp, gasLimit, baseFee, prevRandao, coinbase } = block
    const header = { number, timestamp, gasLimit, baseFee }
    const numbers = Object.fromEntries(
      Object.entries(header).map(([key, value]) => [key, `${value}`]),
    )
    const head = JSON.stringify({ fork, block: { ...numbers, prevRandao, coinbase } }).slice(0, -1)
    const rows = cases.map((each) => JSON.stringify(each)).join(',\n')
    writeFileSync(fileOf(fork), `${head},"cases":[\n${rows}\n]}\n`)
  } finally {
    await anvil.stop()
  }
}

/** Gas and digest of one stored case as our EVM runs it. */
export async function createReplay({ fork, block }: StoredVectors) {
  const signed = await signAuthorizations()
  const { number, timestamp, gasLimit, baseFee, prevRandao, coinbase } = block
  const env: BlockEnv = {
    fork,
    prevRandao,
    coinbase,
    chainId: CHAIN_ID,
    blobBaseFee: 1n,
    number: BigInt(number),
    timestamp: BigInt(timestamp),
    gasLimit: BigInt(gasLimit),
    baseFee: BigInt(baseFee),
    blockHash: () => undefined,
  }
  return (seed: number): readonly [gasUsed: number, digest: string] => {
    const { input, overrides } = buildCase(seed, signed, fork)
    const state = overlay(genesis, overrides)
    const run = { state, block: env, onMiss: 'stop', record: true, maxSteps: 1e9 } as const
    const outcome = call(run, input)
    if (outcome.kind !== 'done') throw new Error(`seed ${seed} ended as ${outcome.kind}`)
    const summary = ourSummary(outcome, fork)
    return [summary.gasUsed, digestOf(summary)]
  }
}

/** Eight bytes over success, output, logs and frames. A failed run has no logs. */
function digestOf({ success, output, logs, frames }: Summary): string {
  const text = JSON.stringify([success, output, success ? logs : [], frames])
  return keccak256(stringToHex(text)).slice(2, 18)
}
