import { parseArgs } from 'node:util'
import type { Version } from '../../src/erc4337/entryPoint.js'

export const VERSIONS: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']
export const PAYERS = ['self', 'tank', 'native'] as const
export type Payer = (typeof PAYERS)[number]
export const CHAINS = ['quick', 'slow'] as const
/** How our own chain makes blocks. */
export type ChainKind = (typeof CHAINS)[number]

export type LoadOptions = {
  readonly version: Version
  readonly payer: Payer
  readonly chain: ChainKind
  readonly accounts: number
  readonly operations: number
  /** Requests under way at once. */
  readonly concurrency: number
  readonly runs: number
  readonly seed: string
  readonly executors: number
  /** Processes of the service. */
  readonly processes: number
  /** Streams of the app's changes that are open during the runs; only on our own service. */
  readonly subscribers: number
  /** Another bundler's JSON-RPC URL, and the node it uses; absent = our own service. */
  readonly target: string | undefined
  readonly rpc: string | undefined
  /** Where to write the report as JSON. */
  readonly json: string | undefined
}

const flags = {
  version: { type: 'string', default: '0.6' },
  payer: { type: 'string', default: 'self' },
  chain: { type: 'string', default: 'quick' },
  accounts: { type: 'string', default: '500' },
  operations: { type: 'string', default: '3000' },
  concurrency: { type: 'string', default: '64' },
  runs: { type: 'string', default: '3' },
  seed: { type: 'string', default: 'purser' },
  executors: { type: 'string', default: '4' },
  processes: { type: 'string', default: '1' },
  subscribers: { type: 'string', default: '0' },
  target: { type: 'string' },
  rpc: { type: 'string' },
  json: { type: 'string' },
} as const

/** @throws Error that says what is wrong with a flag */
export function parseLoadOptions(args: readonly string[]): LoadOptions {
  const { values } = parseArgs({ args: [...args], options: flags })
  const { seed, target, rpc, json } = values
  if ((target === undefined) !== (rpc === undefined))
    throw new Error('--target and --rpc belong together: a bundler and the node it uses')
  return {
    version: oneOf('version', VERSIONS, values.version),
    payer: oneOf('payer', PAYERS, values.payer),
    chain: oneOf('chain', CHAINS, values.chain),
    accounts: count('accounts', values.accounts),
    operations: count('operations', values.operations),
    concurrency: count('concurrency', values.concurrency),
    runs: count('runs', values.runs),
    executors: count('executors', values.executors),
    processes: count('processes', values.processes),
    subscribers: values.subscribers === '0' ? 0 : count('subscribers', values.subscribers),
    seed,
    target,
    rpc,
    json,
  }
}

/** @throws Error that names what is allowed */
export function oneOf<T extends string>(name: string, allowed: readonly T[], value: string): T {
  const found = allowed.find((each) => each === value)
  if (found === undefined) throw new Error(`--${name} must be one of ${allowed.join(', ')}`)
  return found
}

/** @throws Error unless it is a whole number above zero */
export function count(name: string, value: string): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} must be a whole number`)
  return number
}
