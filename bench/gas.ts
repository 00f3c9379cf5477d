/**
 * How close estimates come, on a local anvil: each limit against the smallest with which the operation
 * still succeeds on the chain (verification before the room for real signatures), what was charged, and preVerificationGas against the true share in
 * bundles of 1, 5 and 20. For every EntryPoint version, sender and payer. A table, and JSON in `bench-gas.json` or the file
 * that PURSER_BENCH_OUTPUT names. The accounts of other vendors have `bench:accounts`.
 */
import { writeFileSync } from 'node:fs'
import type { Address, Hex } from 'viem'
import { adviseFees } from '../src/chain/fees.js'
import type { AccountCall } from '../src/cli/devnet/simpleAccount.js'
import type { Draft } from '../src/erc4337/draft.js'
import type { OperationOutcome, Version } from '../src/erc4337/entryPoint.js'
import type { Operation } from '../src/erc4337/operation.js'
import { estimateOperation } from '../src/gas/estimateOperation.js'
import { preVerificationGas } from '../src/gas/preVerificationGas.js'
import { complete } from '../src/paymaster/sponsoredDraft.js'
import { encodeTankData } from '../src/paymaster/tank/tankData.js'
import { stubSignature } from '../src/gas/placeholder.js'
import { smallestLimitLater } from '../src/simulation/inProcess/smallestLimit.js'
import { unsetGas } from '../test/support/operations/unsetGas.js'
import { withoutHeadroom } from '../test/support/operations/withoutHeadroom.js'
import { openGround } from '../test/support/world/ground.js'
import {
  lower,
  type SenderKind,
  senderKinds,
  TARGET,
  VERSIONS,
  type VersionChain,
} from '../test/support/world/versionChain.js'

const bounds = { maxBundleGas: 16_000_000n, maxVerificationGas: 5_000_000n }
const bundleSizes = [1, 5, 20]
const calls = {
  'a transfer': () => ({ to: TARGET, value: 0n }),
  '3 slots': (chain: VersionChain, from = 0n) => chain.onTarget('write', from, 3n),
  '1 kB of data': () => ({ to: TARGET, data: `0x${'5a'.repeat(1_000)}` as Hex }),
} satisfies Record<string, (chain: VersionChain, from?: bigint) => AccountCall>

type Payer = 'itself' | 'a tank'
type Limit = { readonly estimate: bigint; readonly smallest: bigint }
type Row = {
  readonly version: Version
  readonly sender: SenderKind
  readonly payer: Payer
  readonly call: string
  readonly succeeded: boolean
  readonly limits: Readonly<Record<string, Limit>>
  /** Sum of what the estimate may charge, and what was charged. */
  readonly chargeable: bigint
  readonly charged: bigint
}
type Share = {
  readonly version: Version
  readonly payer: Payer
  readonly call: string
  readonly size: number
  readonly preVerificationGas: bigint
  readonly share: bigint
}

const limitFields = [
  'callGasLimit',
  'verificationGasLimit',
  'paymasterVerificationGasLimit',
] as const
/** As a sponsorship has one: the EntryPoint works less where there is none. */
const range = { validUntil: 4_000_000_000, validAfter: 0 }

async function estimate(chain: VersionChain, draft: Draft, bundleSize: number) {
  const { node, heads } = chain.engine
  const head = await heads.refresh()
  const definition = { chainId: chain.chainId, ...bounds }
  const advice = await adviseFees(node, head, {})
  const context = {
    node,
    engine: chain.engine,
    definition,
    advice,
    bundleSize,
    hasBeneficiary: false,
  }
  return estimateOperation(context, chain.entryPoint, draft)
}

/** An estimated operation with its signatures, and a way to sign it again with other limits. */
async function prepare(
  chain: VersionChain,
  {
    kind,
    payer,
    call,
    seed,
    tank,
    bundleSize = 1,
  }: {
    readonly kind: SenderKind
    readonly payer: Payer
    readonly call: AccountCall
    readonly seed: string
    readonly tank: Address
    readonly bundleSize?: number
  },
) {
  const drafted = await chain.draft(kind, seed, call)
  if (payer === 'itself') await chain.fund(drafted.sender)
  const stub = { paymaster: tank, paymasterData: encodeTankData(range, stubSignature) }
  const draft = { ...drafted, ...unsetGas, ...(payer === 'itself' ? {} : stub) }
  const gas = await estimate(chain, draft, bundleSize)
  const sign = async (op: Operation) =>
    chain.sign(payer === 'itself' ? op : await chain.sponsor(op, tank, range), seed)
  return { op: complete(draft, gas), sign }
}

async function benchLimits(chain: VersionChain, tank: Address): Promise<Row[]> {
  const rows: Row[] = []
  for (const kind of senderKinds(chain.version))
    for (const payer of ['itself', 'a tank'] as const)
      for (const [name, callOf] of Object.entries(calls)) {
        const seed = `${kind} ${payer} ${name}`
        const call = callOf(chain)
        const { op, sign } = await prepare(chain, { kind, payer, call, seed, tank })
        const outcomeOf = async (changes: Partial<Operation>) => {
          const signed = await sign({ ...op, ...changes })
          return (await chain.undone(() => chain.send(signed))).outcome
        }
        const outcome = await outcomeOf({})
        const limits: Record<string, Limit> = {}
        for (const field of limitFields) {
          const ceiling = op[field]
          if (ceiling === 0n) continue
          const search = { floor: 0n, ceiling, guess: (ceiling * 31n) / 32n, tolerance: 32n }
          const smallest = await smallestLimitLater(
            search,
            async (limit) => (await outcomeOf({ [field]: limit }))?.success === true,
          )
          const isVerification = field === 'verificationGasLimit'
          limits[field] = {
            estimate: isVerification ? withoutHeadroom(chain.entryPoint, op) : ceiling,
            smallest,
          }
        }
        rows.push({
          version: chain.version,
          sender: kind,
          payer,
          call: name,
          limits,
          succeeded: outcome?.success === true,
          chargeable: chain.entryPoint.chargeableGas(op),
          charged: outcome?.actualGasUsed ?? 0n,
        })
      }
  return rows
}

/** What a real bundle costs on top of what the EntryPoint meters, over its operations. */
async function benchShares(chain: VersionChain, tank: Address): Promise<Share[]> {
  const shares: Share[] = []
  let slot = 1_000n
  for (const payer of ['itself', 'a tank'] as const)
    for (const [name, callOf] of Object.entries(calls))
      for (const size of bundleSizes) {
        const ops: Operation[] = []
        for (let at = 0; at < size; at++) {
          const seed = `share ${payer} ${name} ${size} ${at}`
          // Slots of its own, so that what it was estimated to use is what it uses in the bundle.
          const call = callOf(chain, slot)
          slot += 3n
          const some = { kind: 'deployed', payer, call, seed, tank, bundleSize: size } as const
          const { op, sign } = await prepare(chain, some)
          ops.push(await sign(op))
        }
        shares.push({
          version: chain.version,
          payer,
          call: name,
          size,
          ...(await shareOf(chain, ops)),
        })
      }
  return shares
}

async function shareOf(chain: VersionChain, ops: readonly Operation[]) {
  const { entryPoint } = chain
  const beneficiary = lower(chain.wallet.account.address)
  const data = entryPoint.encodeHandleOps(ops, beneficiary)
  const hash = await chain.wallet.sendTransaction({
    to: entryPoint.address,
    data,
    gas: 16_000_000n,
  })
  const receipt = await chain.wallet.waitForTransactionReceipt({ hash })
  const outcomes: readonly OperationOutcome[] = entryPoint.decodeOutcomes(receipt.logs)
  if (outcomes.length < ops.length) throw new Error('the bundle failed')
  const sum = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n)
  const prepaid = sum(ops.map((op) => op.preVerificationGas))
  const metered = sum(outcomes.map(({ actualGasUsed }) => actualGasUsed)) - prepaid
  const count = BigInt(ops.length)
  const due = sum(
    ops.map((op) =>
      preVerificationGas(entryPoint, op, {
        bundleSize: ops.length,
        contextSize: 0,
        verificationGasUsed: metered / count,
        hasBeneficiary: false,
      }),
    ),
  )
  return { preVerificationGas: due / count, share: (receipt.gasUsed - metered) / count }
}

function percent(above: bigint, base: bigint): string {
  return `${base === 0n ? '-' : ((Number(above - base) / Number(base)) * 100).toFixed(1)} %`.padStart(
    8,
  )
}

function print(rows: readonly Row[], shares: readonly Share[]): void {
  for (const { version, sender, payer, call, succeeded, limits, ...gas } of rows) {
    const cells = limitFields.map((field) => {
      const limit = limits[field]
      if (limit === undefined) return ''.padStart(25)
      const { estimate, smallest } = limit
      return `${estimate}`.padStart(8) + `${smallest}`.padStart(9) + percent(estimate, smallest)
    })
    const name = `v${version} ${sender} ${payer}, ${call}`.padEnd(48)
    const charged = `${gas.charged} of ${gas.chargeable}`
    console.log(`${name}${cells.join(' ')}  ${charged}${succeeded ? '' : '  FAILED'}`)
  }
  for (const { version, payer, call, size, preVerificationGas, share } of shares) {
    const name = `v${version} ${payer}, ${call}, ${size} in a bundle`.padEnd(48)
    const figures = `${preVerificationGas}`.padStart(8) + `${share}`.padStart(9)
    console.log(`${name}${figures}${percent(preVerificationGas, share)}`)
  }
}

const rows: Row[] = []
const shares: Share[] = []
console.log('estimate, smallest and difference of: call, verification, paymaster verification')
for (const version of VERSIONS) {
  const ground = await openGround()
  const chain = ground.at(version)
  try {
    const tank = await chain.createTank(0)
    const [limited, shared] = [await benchLimits(chain, tank), await benchShares(chain, tank)]
    print(limited, shared)
    rows.push(...limited)
    shares.push(...shared)
  } finally {
    await ground.stop()
  }
}
const failed = rows.filter(({ succeeded }) => !succeeded).length
console.log(`${rows.length} operations sent with their estimates, ${failed} failed`)
const text = JSON.stringify({ rows, shares }, (_, v) => (typeof v === 'bigint' ? Number(v) : v), 1)
writeFileSync(process.env.PURSER_BENCH_OUTPUT ?? 'bench-gas.json', `${text}\n`)
if (failed > 0) process.exitCode = 1
