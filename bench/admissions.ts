/**
 * Admissions a second on the embedded PostgreSQL, from valid operation to durable commit, and how
 * many commits each one costs; with 100 and with 100,000 operations in the pool. `--json FILE` writes the same.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { numberToHex } from 'viem'
import { createBatcher } from '../src/base/createBatcher.js'
import { type Database, openDatabase } from '../src/db/database.js'
import { startEmbeddedPostgres } from '../src/db/embedded/embeddedPostgres.js'
import { migrate } from '../src/db/migrate.js'
import { commitAdmissions } from '../src/mempool/commitAdmissions.js'
import type { AdmissionDecision } from '../src/mempool/decideAdmission.js'
import type { Admission } from '../src/mempool/poolView.js'
import { createApp } from '../test/support/database/createApp.js'
import { silent } from '../test/support/logger.js'
import { plainOperation } from '../test/support/operations/plainOperation.js'

const CHAIN = 1
const SECONDS = 4
const limits = {
  maxOperationsPerSender: 16,
  maxOperationsPerApp: 1_000_000,
  maxOperations: 1_000_000,
}

let serial = 0
function nextAdmission(appId: string): Admission {
  const hash = numberToHex(++serial, { size: 32 })
  const operation = plainOperation({
    sender: numberToHex(serial, { size: 20 }),
    callData: `0x${'ab'.repeat(200)}`,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: BigInt(serial % 1_000_000),
    paymaster: `0x${'cc'.repeat(20)}`,
  })
  const entryPoint = `0x${'ee'.repeat(20)}` as const
  const entry = {
    chainId: CHAIN,
    hash,
    entryPoint,
    appId,
    keyId: undefined,
    operation,
    prefund: 1n,
    assuredPrice: operation.maxFeePerGas,
    validUntil: 0,
    factory: undefined,
    seenBlock: 0n,
    mostCharged: undefined,
    sharedBy: 1,
    validUntilBlock: 0n,
    firstValidation: undefined,
  }
  return { entry, deposit: 10n ** 18n, baseFee: 1n, entities: undefined }
}

async function fill(database: Database, appId: string, count: number): Promise<void> {
  while (serial < count) {
    const batch = Array.from({ length: 1_000 }, () => nextAdmission(appId))
    await commitAdmissions(database, CHAIN, batch, limits)
  }
  await sql`vacuum analyze operations`.execute(database)
}

async function measure(database: Database, appId: string, clients: number, most: number) {
  let commits = 0
  const admit = createBatcher<Admission, AdmissionDecision>((admissions) => {
    commits += 1
    return commitAdmissions(database, CHAIN, admissions, limits)
  }, most)
  const times: number[] = []
  const end = performance.now() + SECONDS * 1000
  const client = async () => {
    while (performance.now() < end) {
      const start = performance.now()
      await admit(nextAdmission(appId))
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  times.sort((a, b) => a - b)
  return {
    clients,
    'operations per commit at most': most,
    'admissions/s': Math.round(times.length / SECONDS),
    'commits per operation': Number((commits / times.length).toFixed(3)),
    'p50 ms': Number(times[times.length >> 1]!.toFixed(2)),
    'p99 ms': Number(times[Math.floor(times.length * 0.99)]!.toFixed(2)),
  }
}

const { values } = parseArgs({ options: { json: { type: 'string' } } })
const all = []
const folder = mkdtempSync(join(tmpdir(), 'purser-bench-'))
try {
  const { connection, stop } = await startEmbeddedPostgres(folder, silent)
  const database = openDatabase(connection, silent)
  await migrate(database)
  const appId = await createApp(database)
  for (const pooled of [100, 100_000]) {
    await fill(database, appId, pooled)
    const rows = []
    for (const [clients, most] of [
      [1, 64],
      [16, 1],
      [16, 64],
      [64, 64],
      [256, 64],
    ] as const)
      rows.push(await measure(database, appId, clients, most))
    console.log(`${pooled} operations in the pool before`)
    console.table(rows)
    all.push(...rows.map((row) => ({ pooled, ...row })))
  }
  if (values.json) writeFileSync(values.json, `${JSON.stringify(all, null, 2)}\n`)
  await database.destroy()
  await stop()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
