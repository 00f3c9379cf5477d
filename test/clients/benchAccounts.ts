/**
 * The limits of every real account of another vendor that pays for itself, on a local anvil: each against the smallest that
 * the chain accepts with its real signature. A table, and JSON in the file that PURSER_BENCH_OUTPUT names. `bench:gas` does
 * the same for our own senders and payers.
 */
import { writeFileSync } from 'node:fs'
import type { Address, Hex } from 'viem'
import type { SmartAccount } from 'viem/account-abstraction'
import { adviseFees } from '../../src/chain/fees.js'
import type { DevInfo } from '../../src/cli/devInfo.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { estimateOperation } from '../../src/gas/estimateOperation.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { smallestLimitLater } from '../../src/simulation/inProcess/smallestLimit.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { openGround } from '../support/world/ground.js'
import { TARGET, VERSIONS, type VersionChain } from '../support/world/versionChain.js'
import { accountFamilies } from './support/accountFamilies.js'
import { operationOfAccount, signByAccount } from './support/operationOfAccount.js'
import { PLAYGROUND, placePlayground, playgroundData } from './support/playground.js'

const bounds = { maxBundleGas: 16_000_000n, maxVerificationGas: 5_000_000n }
const TOLERANCE = 32n
const limitFields = ['callGasLimit', 'verificationGasLimit'] as const

/** The estimate of a limit and the smallest with which the chain still includes the operation, both in gas. */
type Limit = { readonly estimate: bigint; readonly smallest: bigint }

type AccountRow = {
  readonly account: string
  readonly version: Version
  readonly step: string
  readonly succeeded: boolean
  readonly callGasLimit: Limit
  /** With its headroom: the smallest is the one that the real signature needs. */
  readonly verificationGasLimit: Limit
}

/** What each account does: the first operation creates it. */
const steps = {
  first: [{ to: TARGET, data: '0x1234' as Hex }],
  second: [{ to: TARGET, data: '0x5678' as Hex }],
  'batch of five': Array.from({ length: 5 }, (_, at) => ({
    to: PLAYGROUND,
    data: playgroundData.write(BigInt(at + 1), BigInt(at)),
  })),
} satisfies Record<string, readonly { to: Address; data: Hex }[]>

async function estimated(chain: VersionChain, op: Operation): Promise<Operation> {
  const { node, heads } = chain.engine
  const head = await heads.refresh()
  const context = {
    node,
    engine: chain.engine,
    definition: { chainId: chain.chainId, ...bounds },
    advice: await adviseFees(node, head, {}),
    bundleSize: 1,
    hasBeneficiary: false,
  }
  const draft = { ...op, ...unsetGas }
  return complete(draft, await estimateOperation(context, chain.entryPoint, draft))
}

async function benchStep(
  chain: VersionChain,
  account: SmartAccount,
  calls: (typeof steps)['first'],
) {
  const op = await estimated(chain, await operationOfAccount(account, calls))
  const succeeds = async (changes: Partial<Operation>): Promise<boolean> => {
    const signed = await signByAccount(account, { ...op, ...changes })
    return chain.undone(async () => (await chain.send(signed)).outcome?.success === true)
  }
  const limitOf = async (field: (typeof limitFields)[number]): Promise<Limit> => {
    const ceiling = op[field]
    const search = { floor: 0n, ceiling, guess: (ceiling * 31n) / 32n, tolerance: TOLERANCE }
    return {
      estimate: ceiling,
      smallest: await smallestLimitLater(search, (limit) => succeeds({ [field]: limit })),
    }
  }
  const limits = {
    callGasLimit: await limitOf('callGasLimit'),
    verificationGasLimit: await limitOf('verificationGasLimit'),
  }
  const { outcome } = await chain.send(await signByAccount(account, op))
  return { ...limits, succeeded: outcome?.success === true }
}

/** The rows of all accounts of the version of `chain`. */
async function benchAccounts(chain: VersionChain): Promise<AccountRow[]> {
  const { version, chainId, entryPoints, factories, delegates } = chain
  const info = { rpcUrl: chain.anvil.url, chainId, entryPoints, factories, delegates } as DevInfo
  await placePlayground(info.rpcUrl)
  const rows: AccountRow[] = []
  for (const family of accountFamilies) {
    const kinds = family.kinds(() => info).filter((kind) => kind.version === version)
    if (kinds.length === 0) continue
    await family.place(info)
    for (const kind of kinds) {
      const account = await kind.open(`bench ${kind.name} ${version}`)
      await chain.fund(account.address)
      for (const [step, calls] of Object.entries(steps)) {
        await chain.engine.heads.refresh()
        const figures = await benchStep(chain, account, calls)
        rows.push({ account: kind.name, version, step, ...figures })
      }
    }
  }
  return rows
}

function percent({ estimate, smallest }: Limit): string {
  return `${((Number(estimate - smallest) / Number(smallest)) * 100).toFixed(1)} %`.padStart(8)
}

function printAccounts(rows: readonly AccountRow[]): void {
  for (const { account, version, step, succeeded, ...limits } of rows) {
    const cells = limitFields.map((field) => {
      const { estimate, smallest } = limits[field]
      return `${estimate}`.padStart(8) + `${smallest}`.padStart(9) + percent(limits[field])
    })
    const name = `v${version} ${account}, ${step}`.padEnd(48)
    console.log(`${name}${cells.join(' ')}${succeeded ? '' : '  FAILED'}`)
  }
}

const rows: AccountRow[] = []
for (const version of VERSIONS) {
  const ground = await openGround()
  try {
    const ofVersion = await benchAccounts(ground.at(version))
    printAccounts(ofVersion)
    rows.push(...ofVersion)
  } finally {
    await ground.stop()
  }
}
const failed = rows.filter(({ succeeded }) => !succeeded).length
console.log(`${rows.length} operations sent with their estimates, ${failed} failed`)
const output = process.env.PURSER_BENCH_OUTPUT
if (output !== undefined) {
  const text = JSON.stringify(rows, (_, v) => (typeof v === 'bigint' ? Number(v) : v), 1)
  writeFileSync(output, `${text}\n`)
}
if (failed > 0) process.exitCode = 1
