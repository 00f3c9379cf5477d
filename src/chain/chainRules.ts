import type { Address, Hex } from 'viem'
import { bytesToHex, concatHex, numberToHex } from 'viem/utils'
import {
  type BlockEnv,
  type Fork,
  forks,
  includesFork,
  intrinsicGas,
  p256VerifyRip7212,
} from '../evm/index.js'
import type { NodeAnswer, NodeCall } from './jsonRpc.js'
import type { NodeClient } from './nodeClient.js'

export const zeroAddress: Address = `0x${'00'.repeat(20)}`

/** The rules by which a chain runs contracts, as far as our EVM must know them. */
export type ChainRules = Pick<
  BlockEnv,
  'fork' | 'calldataFloor' | 'chainPrecompiles' | 'unknownPrecompiles'
> & {
  /** Whether the node reads state by block hash (EIP-1898), so that reads cannot mix blocks. */
  readonly readsByHash: boolean
  /** The fork that the chain has announced (EIP-7910); absent where none is, or it changes nothing for contracts. */
  readonly next?: ComingFork | undefined
}

/** Rules that are to come. */
export type ComingFork = {
  readonly fork: Fork
  /** Unix seconds: they hold in every block from this time on. */
  readonly activation: number
}

type Probe = { readonly to?: Address; readonly data: Hex; readonly expected: RegExp }

/** A feature of each fork that a call can see: the newest one that works shows the fork. */
const probes: Readonly<Record<Fork, Probe>> = {
  // PUSH0; returns nothing.
  shanghai: { data: '0x5f5ff3', expected: /^0x$/ },
  // TLOAD, MCOPY; returns nothing.
  cancun: { data: '0x5f5c5f5f5f5e5f5ff3', expected: /^0x$/ },
  // BLS12_G1ADD of two points at infinity is the same.
  prague: {
    to: '0x000000000000000000000000000000000000000b',
    data: `0x${'00'.repeat(256)}`,
    expected: /^0x(00){128}$/,
  },
  // CLZ of 1.
  osaka: { data: '0x60011e5f5260205ff3', expected: /^0x0{62}ff$/ },
  // SLOTNUM; returns nothing.
  amsterdam: { data: '0x4b505f5ff3', expected: /^0x$/ },
}

/** P-256 at 0x100 (RIP-7212, EIP-7951): a valid signature is answered by 1. */
const p256: Probe = {
  to: '0x0000000000000000000000000000000000000100',
  data: concatHex([
    '0xeaa0e58dea2c9d3d12c06f452cdca0f0669fa2bd0441fb23ad36e391cbb6860c',
    '0x01a74562ccd02819eabe7d5a1163953cb0d3b8477f0fe21867f58c0f4a994249',
    '0x4830abd6c071b7cb08bb702772350ceeb35719aca82ffa8997f9f82de6f11cb7',
    '0x1692c8404a8941c240905387252e0c8979f374ad334d3b5030d4df5139fd018f',
    '0x2070a2c9f179263121701471ee43143c54fdc116751c7aad32ca23150ed0b38b',
  ]),
  expected: /^0x0{63}1$/,
}

const forksNewestFirst: readonly Fork[] = forks.toReversed()
const LAST_FORK_PRECOMPILE = 0x11n
const P256_ADDRESS = 0x100

/**
 * The rules that hold at `block`, by one batch of requests: calls that succeed only by the rules of a
 * fork, and eth_config (EIP-7910) for precompiles of the chain's own. Undefined when the chain is older
 * than Shanghai.
 */
export async function detectChainRules(
  node: NodeClient,
  block: Hex,
): Promise<ChainRules | undefined> {
  const tried = [...forksNewestFirst.map((fork) => probes[fork]), p256]
  const [config, byHash, ...answers] = await node.batch([
    { method: 'eth_config', params: [] },
    {
      method: 'eth_getBalance',
      params: [zeroAddress, { blockHash: block, requireCanonical: true }],
    },
    ...tried.map(encodeProbe),
    ...calldataFloorCalls(),
  ])
  const works = tried.map(({ expected }, at) => succeeded(answers[at], expected))
  const fork = forksNewestFirst.find((_, at) => works[at])
  if (fork === undefined) return undefined
  const hasExtraP256 = !includesFork(fork, 'osaka') && works[forksNewestFirst.length]
  return {
    fork,
    calldataFloor: readCalldataFloor(answers.slice(tried.length)),
    ...(hasExtraP256 ? { chainPrecompiles: new Map([[P256_ADDRESS, p256VerifyRip7212]]) } : {}),
    unknownPrecompiles: unknownPrecompiles(config),
    readsByHash: byHash?.ok ?? false,
    next: await comingFork(node, fork, config),
  }
}

type ForkConfig = {
  readonly activationTime?: number
  readonly precompiles?: Record<string, Address>
  readonly systemContracts?: Record<string, Address>
}

/** What a node that knows eth_config says; some say nothing. */
function announcedBy({ result }: { readonly result: unknown }) {
  return (result ?? {}) as { current?: ForkConfig; next?: ForkConfig | null }
}

/**
 * The fork that eth_config announces, which names none: the newest whose probe works in a call that pretends its time;
 * where a node pretends no time, the one after `fork`, unless only the numbers of blobs change (EIP-7892).
 */
async function comingFork(
  node: NodeClient,
  fork: Fork,
  config: NodeAnswer | undefined,
): Promise<ComingFork | undefined> {
  if (!config?.ok) return undefined
  const { current, next } = announcedBy(config)
  const activation = next?.activationTime
  if (!next || activation === undefined) return undefined
  const newer = forksNewestFirst.slice(0, forksNewestFirst.indexOf(fork))
  const override = { time: numberToHex(activation) }
  const answers = await node.batch(
    newer.map((each) => {
      const { method, params } = encodeProbe(probes[each])
      return { method, params: [...params, {}, override] }
    }),
  )
  const found = newer.find((each, at) => succeeded(answers[at], probes[each].expected))
  const contracts = ({ precompiles, systemContracts }: ForkConfig) =>
    JSON.stringify([precompiles ?? {}, systemContracts ?? {}])
  const changes = contracts(current ?? {}) !== contracts(next)
  const coming = found ?? (changes ? newer.at(-1) : undefined)
  return coming && { fork: coming, activation }
}

function encodeProbe({ to, data }: Probe): NodeCall {
  return { method: 'eth_call', params: [to === undefined ? { data } : { to, data }, 'latest'] }
}

function succeeded(answer: NodeAnswer | undefined, expected: RegExp): boolean {
  return answer?.ok === true && typeof answer.result === 'string' && expected.test(answer.result)
}

function unknownPrecompiles(config: NodeAnswer | undefined): ReadonlySet<Address> {
  if (!config?.ok) return new Set()
  const { current } = announcedBy(config)
  const unknown = Object.values(current?.precompiles ?? {}).filter((address) => {
    const number = BigInt(address)
    return number > LAST_FORK_PRECOMPILE && number !== BigInt(P256_ADDRESS)
  })
  return new Set(unknown.map((address) => address.toLowerCase() as Address))
}

/**
 * Two calls that do nothing, with the gas of the floor price of calldata (EIP-7623) and with one less: only where the
 * chain has no floor do both run.
 */
export function calldataFloorCalls(): readonly NodeCall[] {
  // Call data by which 4/16 gas a byte and the floor of 10/40 are far apart.
  const data = new Uint8Array(10_000).fill(1)
  const { floor } = intrinsicGas({ fork: 'prague' }, { to: zeroAddress, data })
  return [floor, floor - 1].map((gas) => {
    const call = { to: zeroAddress, data: bytesToHex(data), gas: numberToHex(gas) }
    return { method: 'eth_call', params: [call, 'latest'] }
  })
}

/** Whether the chain has the floor price, by the answers to `calldataFloorCalls`; undefined where they leave it open. */
export function readCalldataFloor(answers: readonly NodeAnswer[]): boolean | undefined {
  const [enough, tooLittle] = answers
  if (!enough?.ok) return undefined
  return tooLittle?.ok === false
}
