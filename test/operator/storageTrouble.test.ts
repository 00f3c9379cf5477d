import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { clientConfig } from '../../src/db/database.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { withBooks } from '../support/database/books.js'
import { commandsOn } from '../support/service/cliAnswers.js'
import { type ClientView, devAccount, receiptOf } from '../support/service/devAccount.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

type Running = { readonly service: RunningService; readonly view: ClientView }

/** A send as a client sees it: status, code and the header that says when to try again. */
async function send({ view }: Running, op: Operation) {
  const { entryPoint } = await devAccount(view, 'any')
  const response = await fetch(view.bundlerUrl, {
    method: 'POST',
    body: JSON.stringify({
      id: 1,
      method: 'eth_sendUserOperation',
      params: [toInterfaceOperation(op), entryPoint],
    }),
  })
  const { error, result } = (await response.json()) as {
    error?: { code: number; message: string }
    result?: `0x${string}`
  }
  const { status, headers } = response
  return { status, code: error?.code, retryAfter: headers.get('retry-after'), result }
}

async function ready({ service }: Running) {
  const response = await fetch(`${urlOf(service)}/health/ready`)
  const { reasons } = (await response.json()) as { reasons: string[] }
  return { status: response.status, reasons: reasons.join(' ') }
}

/** Refused with -32005 while the trouble lasts, not ready, reported to the operator; then as if nothing had been. */
async function expectTrouble(
  running: Running,
  op: Operation,
  { reason, remedy, end }: { reason: RegExp; remedy: RegExp; end: () => Promise<void> },
): Promise<void> {
  const refused = await until(async () => {
    const answer = await send(running, op)
    // Until the trouble begins, the key may come too often.
    return answer.code !== undefined && answer.status !== 429 && answer
  })
  expect(refused).toMatchObject({ status: 503, code: -32005, retryAfter: '1' })
  // Sessions that were cut fail first, without the reason why no new ones are had.
  await until(async () => {
    const answer = await ready(running)
    return answer.status === 503 && reason.test(answer.reasons)
  })
  await until(async () => remedy.test(running.service.output()))
  await end()
  await until(async () => (await ready(running)).status === 200)
  const { result } = await send(running, op)
  expect((await receiptOf(running.view, result!)).success).toBe('true')
}

describe.skipIf(process.getuid?.() !== 0)(
  'a full disk (a small file system, which root alone can mount)',
  () => {
    let chain: PublicChain
    let folder = ''
    let service: RunningService | undefined
    beforeAll(async () => {
      chain = await startPublicChain(1_531)
      folder = makeDataFolder()
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=0711', 'tmpfs', folder])
    })
    afterAll(async () => {
      await service?.end('SIGTERM')
      execFileSync('umount', ['--lazy', folder])
      removeDataFolder(folder)
      await chain.stop()
    })

    test('is not ready, refuses sends with -32005, and says what to do', async () => {
      const { chainId, rpcUrl } = chain
      const own = {
        chainId,
        rpcUrls: [rpcUrl],
        executorKeys: [devKey(1)],
        facts: { pollInterval: 50 },
      }
      const environment = { PURSER_CHAINS: JSON.stringify([own]) }
      const flags = ['--data', folder, '--port', '0', '--drain-seconds', '0']
      service = await startService(['serve', ...flags], environment)
      const { apiKey } = await commandsOn(folder, environment).tenant('full disk')
      const url = `${urlOf(service)}/api/v2/${chainId}/${apiKey}`
      const view = { ...chain, bundlerUrl: url, paymasterUrl: url }
      const op = await (await devAccount(view, 'full disk')).selfPaid()
      const filler = join(folder, 'filler')
      fillUp(filler)
      await expectTrouble({ service, view }, op, {
        reason: /disk is full/,
        remedy: /free space/,
        end: async () => rmSync(filler),
      })
    })
  },
)

/** Writes until the file system takes no more. */
function fillUp(path: string): void {
  const file = openSync(path, 'w')
  for (let size = 1 << 20; size >= 512; ) {
    try {
      writeSync(file, Buffer.alloc(size))
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC')
      size >>= 1
    }
  }
  closeSync(file)
}

describe('a server that takes no writes or no connections', () => {
  let serving: Serving
  let service: RunningService
  beforeAll(async () => {
    serving = await prepareServing(1_532, async () => ({}))
    service = await serving.start()
  })
  afterAll(() => serving.stop())

  function running(): Running {
    return { service, view: serving.info() as ClientView }
  }

  /** Ends the service's sessions: it opens new ones, which the server's settings then concern. */
  async function cutSessions(): Promise<void> {
    await withBooks(serving.folder, async (database) => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(database)
    })
  }

  test('a read-only one', async () => {
    const op = await (await devAccount(running().view, 'read-only')).selfPaid()
    const alter = (statement: string) =>
      withBooks(serving.folder, async (database) => {
        await sql`set default_transaction_read_only = off`.execute(database)
        await sql.raw(`alter database postgres ${statement}`).execute(database)
      }).then(cutSessions)
    await alter('set default_transaction_read_only = on')
    await expectTrouble(running(), op, {
      reason: /read-only/,
      remedy: /name the primary by DATABASE_URL/,
      end: () => alter('reset default_transaction_read_only'),
    })
  })

  test('one without a free connection', async () => {
    const op = await (await devAccount(running().view, 'connections')).selfPaid()
    const hogs: pg.Client[] = []
    const socketFolder = join(serving.folder, 'postgres/cluster')
    const connection = { socketFolder, user: 'purser', database: 'postgres' }
    const hog = async (): Promise<boolean> => {
      const client = new pg.Client(clientConfig(connection))
      client.on('error', () => {})
      return client.connect().then(
        () => hogs.push(client) > 0,
        () => false,
      )
    }
    while (await hog()) expect(hogs.length).toBeLessThan(100)
    await hogs[0]!.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and application_name like 'purser%'
      and pid not in (${(await pidsOf(hogs)).join(',')})`)
    while (await hog()) expect(hogs.length).toBeLessThan(100)
    await expectTrouble(running(), op, {
      reason: /as many connections as it allows/,
      remedy: /raise max_connections/,
      end: async () => {
        await Promise.all(hogs.map((client) => client.end()))
      },
    })
  })
})

async function pidsOf(clients: readonly pg.Client[]): Promise<number[]> {
  return Promise.all(
    clients.map(async (client) => {
      const { rows } = await client.query('select pg_backend_pid() as pid')
      return (rows[0] as { pid: number }).pid
    }),
  )
}
