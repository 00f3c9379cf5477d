import { type Kysely, sql } from 'kysely'
import type { Logger } from 'pino'

/** A state of the server in which it takes no writes, or no connections, and the operator's remedy. */
type Trouble = { readonly reason: string; readonly remedy: string }

/** The states by SQLSTATE, whole or by its class. */
const troubles: Readonly<Record<string, Trouble>> = {
  '53100': { reason: 'its disk is full', remedy: 'free space on it, or make it larger' },
  '53200': { reason: 'it is out of memory', remedy: 'give it more, or lower its settings' },
  '53300': {
    reason: 'it has as many connections as it allows',
    remedy:
      'raise max_connections, or the limit of the role or the database, or run fewer processes (docs/operate/operations.md says how many each needs)',
  },
  '25006': {
    reason: 'it is read-only',
    remedy: 'name the primary by DATABASE_URL, or end default_transaction_read_only',
  },
  '58030': { reason: 'it cannot read or write its files', remedy: 'look at its log and its disk' },
  '28': { reason: 'it refuses our login', remedy: 'correct user and password in DATABASE_URL' },
  '3D': { reason: 'the database is not there', remedy: 'correct DATABASE_URL, or restore it' },
}

function troubleOf(code: string): Trouble | undefined {
  return troubles[code] ?? troubles[code.slice(0, 2)]
}

/** Is this SQLSTATE one of a server that takes no writes or no connections, whatever the statement? */
export function isStorageTrouble(code: string): boolean {
  return troubleOf(code) !== undefined
}

/** Milliseconds after which the log repeats a trouble that goes on. */
const REPEAT = 60_000

export type TroubleMemory = ReturnType<typeof createTroubleMemory>

/** The trouble of one database that its statements have met and that has not passed yet. */
export function createTroubleMemory(logger: Logger) {
  let known:
    | { readonly code: string; readonly loggedAt: number; readonly reason: string }
    | undefined
  let hasConnected = false
  return {
    /** A connection was made. The caller that opens the database reports failures before the first one. */
    connected(): void {
      hasConnected = true
    },
    note(code: string): void {
      const trouble = troubleOf(code)
      if (trouble === undefined || !hasConnected) return
      const isOld = known?.code === code && performance.now() - known.loggedAt < REPEAT
      if (isOld) return
      known = { code, loggedAt: performance.now(), reason: trouble.reason }
      logger.error(
        { code },
        `Database writes are failing: ${trouble.reason}. Requests are rejected meanwhile; acknowledged operations are safe. Fix: ${trouble.remedy}.`,
      )
    },
    current: () => known?.reason,
    clear(): void {
      if (known !== undefined) logger.info('Database writes recovered.')
      known = undefined
    },
  }
}

/** The MD5 sums (32 bytes each, which do not compress) by which the probe makes a file of the database grow: 64 KB. */
const PROBE_SUMS = 2_048

/** The memories of the databases that `openDatabase` opened. */
const memories = new WeakMap<object, TroubleMemory>()

export function rememberTrouble(database: object, memory: TroubleMemory): void {
  memories.set(database, memory)
}

/**
 * The reason for which the database takes no writes now; undefined = it does, as far as statements have
 * met. While there is one, each call tries whether it has passed, by a row that is rolled back: of `leases`,
 * which nothing else makes large, so that no freed space of an earlier try takes it on a full disk.
 */
export async function storageTrouble<Tables>(
  database: Kysely<Tables>,
): Promise<string | undefined> {
  const memory = memories.get(database)
  if (memory?.current() === undefined) return undefined
  try {
    await database.transaction().execute(async (trx) => {
      await sql`insert into leases (name, holder, token, expires_at)
        select 'probe ' || gen_random_uuid(), string_agg(md5(random()::text), ''), 0, '-infinity'
        from generate_series(1, ${PROBE_SUMS}::integer)`.execute(trx)
      throw new ProbePassed()
    })
  } catch (error) {
    if (error instanceof ProbePassed) memory.clear()
  }
  return memory.current()
}

/** Rolls the probe's transaction back. */
class ProbePassed extends Error {}
