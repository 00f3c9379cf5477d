import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.js'
import { accounts, createAccount } from '../../src/tenants/accounts.js'
import { type AuditChange, audited } from '../../src/tenants/audit.js'
import { createAuthenticator } from '../../src/tenants/authenticate.js'
import { revokeRow } from '../../src/tenants/resource.js'
import { testActor } from '../support/actor.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'

const shared = useDatabase()
let database: Database
let queries = 0
beforeAll(() => {
  database = shared().database.withPlugin({
    transformQuery: ({ node }) => {
      queries += 1
      return node
    },
    transformResult: async ({ result }) => result,
  })
})
beforeEach(() => {
  queries = 0
})

async function account() {
  const change = (made: AuditChange) => createAccount(made, 'one')
  const { account, authToken } = await audited(shared().database, testActor, change)
  return { id: account.id, token: authToken }
}

test('many requests with one token at once ask the database once', async () => {
  const { id, token } = await account()
  const { authenticateToken } = createAuthenticator(database)
  const found = await Promise.all(Array.from({ length: 50 }, () => authenticateToken(token)))
  expect(new Set(found.map((each) => each?.accountId))).toEqual(new Set([id]))
  expect(queries).toBe(1)
})

test('an unknown token is remembered too', async () => {
  const { authenticateToken } = createAuthenticator(database)
  for (let i = 0; i < 3; i++) expect(await authenticateToken('unknown')).toBeUndefined()
  expect(queries).toBe(1)
})

test('what is remembered ends soon, so a revoked token does', async () => {
  const { id, token } = await account()
  const { authenticateToken } = createAuthenticator(database)
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    expect(await authenticateToken(token)).toMatchObject({ accountId: id, role: 'admin' })
    await audited(shared().database, testActor, (change) => revokeRow(change, accounts, { id }))
    vi.advanceTimersByTime(2_001)
    expect(await authenticateToken(token)).toBeUndefined()
  } finally {
    vi.useRealTimers()
  }
})

test('a query that failed is not remembered as an answer', async () => {
  const { id, token } = await account()
  const { connection } = shared()
  if (!('socketFolder' in connection)) throw new Error('not the embedded database')
  const folder = mkdtempSync(join(tmpdir(), 'purser-socket-'))
  const link = join(folder, 'link')
  const throughLink = openDatabase({ ...connection, socketFolder: link }, silent, { size: 1 })
  try {
    const { authenticateToken } = createAuthenticator(throughLink)
    await expect(authenticateToken(token)).rejects.toThrow('not available')
    symlinkSync(connection.socketFolder, link)
    expect(await authenticateToken(token)).toMatchObject({ accountId: id, role: 'admin' })
  } finally {
    await throughLink.destroy()
    rmSync(folder, { recursive: true })
  }
})

test('a flood of unknown tokens pushes old answers out instead of growing for ever', async () => {
  const { id, token } = await account()
  const { authenticateToken } = createAuthenticator(database)
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    await authenticateToken(token)
    for (let i = 0; i < 10_000; i += 500)
      await Promise.all(Array.from({ length: 500 }, (_, n) => authenticateToken(`x${i + n}`)))
    queries = 0
    expect(await authenticateToken('x9999')).toBeUndefined()
    expect(queries).toBe(0)
    expect(await authenticateToken(token)).toMatchObject({ accountId: id, role: 'admin' })
    expect(queries).toBe(1)
  } finally {
    vi.useRealTimers()
  }
})
