import { type Address, type Hex, keccak256, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  authorityOf,
  type BlockEnv,
  type CallResult,
  call,
  type EvmAccountOverride,
  type EvmAuthorization,
  type EvmMessage,
  type Fork,
  type FrameRecord,
  fromHex,
  includesFork,
  type Outcome,
  overlay,
  toHex,
} from '../../src/evm/index.js'
import { type Anvil, createNodeState, latestBlock, type NodeState } from './anvil.js'
import { precompileInputs } from './precompileInputs.js'
import { createRandom, type Random } from './random.js'
import { type ProgramContext, randomProgram } from './randomProgram.js'

const SENDER: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const MAIN: Address = '0x00000000000000000000000000000000000a0001'
const OTHER: Address = '0x00000000000000000000000000000000000a0002'
const DELEGATED: Address = '0x00000000000000000000000000000000000a0003'
const NOWHERE: Address = '0x00000000000000000000000000000000000a0004'
const TARGETS = [MAIN, OTHER, DELEGATED, NOWHERE, SENDER]
const CHAIN_ID = 31_337
/** Sets of valid precompile inputs to go round; making one takes longer than running a case. */
const INPUT_SETS = 40

const authority = privateKeyToAccount(keccak256('0xa0'))
const AUTHORITY = authority.address.toLowerCase() as Address

/** One random message and the world it meets. */
export type Case = { seed: number; input: EvmMessage; overrides: Map<Address, EvmAccountOverride> }

/**
 * Builds the case of a seed. `signed` are authorizations to choose from; none before Prague.
 * Their signers own one wei: anvil takes an account that does not exist for an existing empty
 * one and grants the refund of EIP-7702 for it, which no chain does. From Amsterdam on, geth answers, and half of
 * them do not exist.
 */
export function buildCase(seed: number, signed: readonly EvmAuthorization[], fork: Fork): Case {
  const isAmsterdam = fork === 'amsterdam'
  const random = createRandom(seed)
  const { calldata, inputs } = precompileInputs(seed % INPUT_SETS)
  const targets = [...TARGETS, AUTHORITY]
  const context: ProgramContext = { random, targets, inputs, isAmsterdam }
  const code = () => randomProgram(context, 2 + random.below(24))
  const delegate = random.pick([
    OTHER,
    OTHER,
    MAIN,
    NOWHERE,
    '0x0000000000000000000000000000000000000002',
  ])
  const account = (bytes: Uint8Array): EvmAccountOverride => ({
    nonce: 1n,
    balance: BigInt(random.below(100_000)),
    code: bytes,
    state: slots(random),
  })
  const overrides = new Map<Address, EvmAccountOverride>([
    [MAIN, account(code())],
    [OTHER, account(code())],
  ])
  if (signed.length > 0) {
    overrides.set(DELEGATED, account(fromHex(`0xef0100${delegate.slice(2)}`)))
    const exist = !isAmsterdam || random.oneIn(2)
    for (const signer of signed.map(authorityOf)) {
      if (signer && exist) overrides.set(signer, { balance: 1n })
    }
  }
  const creates = random.oneIn(12)
  const authorizations = creates || !random.oneIn(4) ? undefined : authorizationsOf(random, signed)
  const input: EvmMessage = {
    from: SENDER,
    to: creates ? undefined : random.pick([MAIN, MAIN, MAIN, DELEGATED, AUTHORITY]),
    data: creates ? code() : calldata,
    value: BigInt(random.oneIn(3) ? random.below(1000) : 0),
    gas: (250_000 + random.below(random.oneIn(3) ? 100_000 : 1_500_000)) * (isAmsterdam ? 4 : 1),
    ...(random.oneIn(4) && { accessList: accessList(random) }),
    ...(authorizations && { authorizations }),
  }
  return { seed, input, overrides }
}

function slots(random: Random): Map<Hex, bigint> {
  const values = Array.from(
    { length: 4 },
    (_, slot) => [slotHex(slot), BigInt(random.below(3))] as const,
  )
  return new Map(values.filter(([, value]) => value !== 0n))
}

function slotHex(slot: number): Hex {
  return numberToHex(slot, { size: 32 })
}

function accessList(random: Random) {
  const storageKeys = Array.from({ length: random.below(4) }, () => slotHex(random.below(4)))
  return [{ address: random.pick(TARGETS), storageKeys }]
}

function authorizationsOf(random: Random, signed: readonly EvmAuthorization[]) {
  if (signed.length === 0) return undefined
  return Array.from({ length: 1 + random.below(3) }, () => random.pick(signed))
}

/** Authorizations good and bad, to choose from. */
export async function signAuthorizations(): Promise<EvmAuthorization[]> {
  const wanted = [
    { chainId: CHAIN_ID, nonce: 0, address: MAIN },
    { chainId: 0, nonce: 0, address: OTHER },
    { chainId: 1, nonce: 0, address: OTHER },
    { chainId: CHAIN_ID, nonce: 1, address: OTHER },
    { chainId: CHAIN_ID, nonce: 1, address: `0x${'00'.repeat(20)}` as Address },
    { chainId: CHAIN_ID, nonce: 7, address: MAIN },
  ]
  const good = await Promise.all(
    wanted.map(async (request) => {
      const { r, s, yParity } = await authority.signAuthorization(request)
      return {
        chainId: BigInt(request.chainId),
        address: request.address,
        nonce: BigInt(request.nonce),
        yParity: yParity!,
        r: BigInt(r),
        s: BigInt(s),
      }
    }),
  )
  return [...good, { ...good[0]!, r: 1n }, { ...good[0]!, yParity: 1 - good[0]!.yParity }]
}

/** What `callTracer` tells of a run. */
export type Trace = {
  type: string
  from: Address
  to?: Address
  gas: Hex
  gasUsed: Hex
  output?: Hex
  error?: string
  calls?: Trace[]
  logs?: { address: Address; topics: Hex[]; data: Hex; position?: Hex }[]
}
type Diff = Record<'pre' | 'post', Record<Address, { storage?: Record<Hex, Hex> }>>

/** Compares our EVM with an anvil on the cases of many seeds, and says what differs. */
export type Comparison = {
  compare(seeds: readonly number[]): Promise<{ differences: string[]; succeeded: number }>
}

export async function createComparison(anvil: Anvil, fork: Fork): Promise<Comparison> {
  const block = await latestBlock(anvil, fork)
  const node = createNodeState(anvil)
  const hasAuthorizations = includesFork(fork, 'prague')
  const signed = hasAuthorizations ? await signAuthorizations() : []
  return {
    compare: async (seeds) => {
      const cases = seeds.map((seed) => buildCase(seed, signed, fork))
      const answers = await anvil.batch(cases.flatMap((one) => requestsFor(one, block)))
      const differences: string[] = []
      let succeeded = 0
      for (const [i, one] of cases.entries()) {
        const outcome = await runOnNode(node, block, one)
        if (outcome.kind === 'done' && outcome.success) succeeded++
        const [trace, diff] = answers.slice(2 * i, 2 * i + 2)
        if (trace!.error !== undefined || diff!.error !== undefined) {
          differences.push(
            `seed ${one.seed}: node says ${trace!.error?.message}, we ${outcome.kind}`,
          )
          continue
        }
        const found = difference(outcome, fork, trace!.result as Trace, diff!.result as Diff)
        if (found !== undefined) differences.push(`seed ${one.seed} on ${fork}: ${found}`)
      }
      return { differences, succeeded }
    },
  }
}

async function runOnNode(node: NodeState, block: BlockEnv, one: Case): Promise<Outcome> {
  const state = overlay(node, one.overrides)
  for (;;) {
    const run = { state, block, onMiss: 'guess', record: true, maxSteps: 1e9 } as const
    const outcome = call(run, one.input)
    if (outcome.kind !== 'missing') return outcome
    await node.fetch(outcome.misses)
  }
}

/** The case as two traces: of its calls with logs, and of what it changed. */
export function requestsFor({ input, overrides }: Case, { timestamp }: BlockEnv) {
  const { from, to, data, value, gas, accessList, authorizations } = input
  const tx = {
    from,
    ...(to && { to }),
    input: toHex(data),
    value: numberToHex(value),
    gas: numberToHex(gas),
    ...(accessList && { accessList }),
    ...(authorizations && { authorizationList: authorizations.map(hexAuthorization) }),
  }
  const stateOverrides = Object.fromEntries(
    [...overrides].map(([at, over]) => [at, hexOverride(over)]),
  )
  const blockOverrides = { time: numberToHex(timestamp) }
  const request = (tracer: string, tracerConfig: object) => ({
    method: 'debug_traceCall',
    params: [
      tx,
      'latest',
      { tracer, tracerConfig, stateOverrides, blockOverrides, timeout: '60s' },
    ],
  })
  return [request('callTracer', { withLog: true }), request('prestateTracer', { diffMode: true })]
}

function hexAuthorization({ chainId, address, nonce, yParity, r, s }: EvmAuthorization) {
  const [chain, count, parity] = [chainId, nonce, yParity].map((value) => numberToHex(value))
  return {
    chainId: chain,
    address,
    nonce: count,
    yParity: parity,
    r: numberToHex(r),
    s: numberToHex(s),
  }
}

function hexOverride({ nonce, balance, code, state }: EvmAccountOverride) {
  const words = [...(state ?? [])].map(([slot, value]) => [slot, numberToHex(value, { size: 32 })])
  return {
    ...(nonce !== undefined && { nonce: numberToHex(nonce) }),
    ...(balance !== undefined && { balance: numberToHex(balance) }),
    ...(code !== undefined && { code: toHex(code) }),
    ...(state !== undefined && { state: Object.fromEntries(words) }),
  }
}

function difference(outcome: Outcome, fork: Fork, trace: Trace, diff: Diff): string | undefined {
  if (outcome.kind !== 'done') return `we say ${JSON.stringify(outcome)}`
  const gone = deleted(outcome)
  const stays = (line: string) => !gone.some((address) => line.startsWith(address))
  const [our, reference] = [ourSummary(outcome, fork), nodeSummary(trace)]
  const pairs: [string, unknown, unknown][] = [
    ['success', our.success, reference.success],
    ['output', our.output, reference.output],
    ['gas used', our.gasUsed, reference.gasUsed],
    ['logs', our.logs, reference.logs],
    ['storage', ourStorage(outcome), nodeStorage(diff).filter(stays)],
    ['frames', our.frames, outcome.record === undefined ? [] : reference.frames],
  ]
  for (const [what, ours, theirs] of pairs) {
    const [a, b] = [JSON.stringify(ours), JSON.stringify(theirs)]
    if (a !== b) return `${what}: ours ${a}, the node's ${b}`
  }
  return undefined
}

/** What is to be seen of a run besides the storage that it leaves behind. */
export type Summary = {
  readonly success: boolean
  readonly output: Hex
  readonly gasUsed: number
  readonly logs: readonly string[]
  readonly frames: readonly string[]
}

export function ourSummary(outcome: CallResult, fork: Fork): Summary {
  return {
    success: outcome.success,
    output: toHex(outcome.output),
    gasUsed: outcome.gasUsed,
    logs: ourLogs(outcome),
    // None where the gas ends before the first frame (EIP-2780), or the record would be too large.
    frames: ourFrames(outcome.record?.root.calls ?? [], fork),
  }
}

export function nodeSummary(trace: Trace): Summary {
  return {
    success: trace.error === undefined,
    output: trace.output ?? '0x',
    gasUsed: Number(trace.gasUsed),
    logs: nodeLogs(trace),
    frames: nodeFrames(trace),
  }
}

/** Accounts destroyed before Cancun: the node lists what storage of theirs was touched, we do not. */
function deleted({ changes }: CallResult): Address[] {
  const isGone = ({ nonce, code, state }: EvmAccountOverride) =>
    nonce === 0n && code?.length === 0 && state?.size === 0
  return [...changes].filter(([, change]) => isGone(change)).map(([address]) => address)
}

function ourLogs({ logs }: CallResult) {
  return logs.map(({ address, topics, data }) => `${address} ${topics} ${toHex(data)}`).sort()
}

/** Logs of frames that were not undone. The tracer gives them by frame, so both sides are sorted. */
function nodeLogs(trace: Trace): string[] {
  if (trace.error !== undefined) return []
  const own = (trace.logs ?? []).map(({ address, topics, data }) => `${address} ${topics} ${data}`)
  return [...own, ...(trace.calls ?? []).flatMap(nodeLogs)].sort()
}

function ourStorage({ changes }: CallResult): string[] {
  const words: string[] = []
  for (const [address, { state, stateDiff }] of changes) {
    for (const [slot, value] of state ?? stateDiff ?? []) words.push(`${address} ${slot} ${value}`)
  }
  return words.sort()
}

function nodeStorage({ pre, post }: Diff): string[] {
  const words: string[] = []
  for (const address of new Set([...Object.keys(pre), ...Object.keys(post)]) as Set<Address>) {
    const before = pre[address]?.storage ?? {}
    const after = post[address]?.storage ?? {}
    for (const slot of new Set([...Object.keys(before), ...Object.keys(after)]) as Set<Hex>) {
      words.push(`${address} ${slot} ${BigInt(after[slot] ?? 0)}`)
    }
  }
  return words.sort()
}

/** From Amsterdam on, geth does not trace creations that may not even begin. */
function ourFrames(calls: readonly FrameRecord[], fork: Fork): string[] {
  const ran = calls.filter(({ kind, error }) => {
    const refused =
      error === 'call depth' || error === 'balance too low' || error === 'nonce too high'
    return fork !== 'amsterdam' || !kind.startsWith('CREATE') || !refused
  })
  return ran.flatMap((frame) => [
    frameText(
      frame.kind,
      frame.from,
      frame.to,
      frame.gas,
      frame.gasUsed,
      frame.error === undefined,
    ),
    ...ourFrames(frame.calls, fork),
  ])
}

function nodeFrames({ calls = [] }: Trace): string[] {
  return calls
    .filter(({ type }) => type !== 'SELFDESTRUCT')
    .flatMap((frame) => [
      frameText(
        frame.type,
        frame.from,
        frame.to,
        Number(frame.gas),
        Number(frame.gasUsed),
        frame.error === undefined,
      ),
      ...nodeFrames(frame),
    ])
}

/** One frame in a line. anvil does not tell the address of a creation that failed. */
function frameText(
  kind: string,
  from: Address,
  to: Address | undefined,
  gas: number,
  gasUsed: number,
  success: boolean,
): string {
  const created = kind.startsWith('CREATE') && !success
  return `${kind} ${from} ${created ? 'nothing' : to} ${gas} ${gasUsed} ${success}`
}
