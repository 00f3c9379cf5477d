import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accounts, createAccount, listAccounts } from '../../src/tenants/accounts.js'
import { apps, createTenantApp } from '../../src/tenants/apps.js'
import { audited } from '../../src/tenants/audit.js'
import { createAuthenticator } from '../../src/tenants/authenticate.js'
import { generateApiKey } from '../../src/tenants/credential.js'
import { createKey, keys, listKeys, rotateKey } from '../../src/tenants/keys.js'
import { revokeRow } from '../../src/tenants/resource.js'
import { decryptSecret, encryptSecret, loadMasterKey } from '../../src/tenants/secrets.js'
import { testActor } from '../support/actor.js'
import { useDatabase } from '../support/database/database.js'

const database = useDatabase()

async function tenant(name: string) {
  const db = database().database
  return audited(db, testActor, async (change) => {
    const { account, authToken: token } = await createAccount(change, name)
    const app = (await createTenantApp(change, account.id, name))!
    const { key, apiKey } = (await createKey(change, app.id, { name }))!
    return { db, token, account, app, apiKey, key }
  })
}

function revoke(what: 'accounts' | 'apps' | 'keys', id: string): Promise<boolean> {
  return audited(database().database, testActor, (change) => {
    if (what === 'accounts') return revokeRow(change, accounts, { id })
    return what === 'apps' ? revokeRow(change, apps, { id }) : revokeRow(change, keys, { id })
  })
}

describe('keys and tokens', () => {
  test('have the alphabet that SDKs accept in a URL and never repeat', () => {
    const made = Array.from({ length: 500 }, generateApiKey)
    for (const key of made) expect(key).toMatch(/^[A-Za-z0-9.-]{40,}$/)
    expect(new Set(made).size).toBe(made.length)
  })

  test('lead to their owner and are not stored', async () => {
    const { db, token, account, app, apiKey, key } = await tenant('owner "\u{1F600}"')
    const { authenticateKey, authenticateToken } = createAuthenticator(db)
    expect(await authenticateKey(apiKey)).toMatchObject({
      keyId: key.id,
      appId: app.id,
      accountId: account.id,
    })
    expect(await authenticateToken(token)).toMatchObject({
      accountId: account.id,
      role: 'admin',
      isFirst: true,
    })
    expect(await authenticateKey(token)).toBeUndefined()
    expect(await authenticateToken(apiKey)).toBeUndefined()
    const rows = JSON.stringify([await listAccounts(db), await listKeys(db)])
    expect(rows).not.toContain(apiKey)
    expect(rows).not.toContain(token)
  })

  test.each(['keys', 'apps', 'accounts'] as const)(
    'end when one of the %s is revoked',
    async (what) => {
      const { db, account, app, apiKey, key } = await tenant(`revoked ${what}`)
      const { id } = { keys: key, apps: app, accounts: account }[what]
      expect(await revoke(what, id)).toBe(true)
      expect(await revoke(what, id)).toBe(false)
      expect(await createAuthenticator(db).authenticateKey(apiKey)).toBeUndefined()
    },
  )

  test('cannot be made for an account or app that is not there', async () => {
    const { db, account, app } = await tenant('gone')
    const addApp = (id: string) =>
      audited(db, testActor, (change) => createTenantApp(change, id, 'x'))
    const addKey = (id: string) =>
      audited(db, testActor, (change) => createKey(change, id, { name: 'x' }))
    const other = await tenant('app gone')
    await revoke('accounts', account.id)
    expect(await addApp(account.id)).toBeUndefined()
    expect(await addApp('nonsense')).toBeUndefined()
    await revoke('apps', other.app.id)
    for (const appId of [app.id, other.app.id]) expect(await addKey(appId)).toBeUndefined()
    expect(await revoke('keys', "'; drop table keys")).toBe(false)
  })
})

describe('a key that is rotated again', () => {
  const rotate = (appId: string, id: string, overlap: number) =>
    audited(database().database, testActor, (change) => rotateKey(change, appId, id, overlap))

  test.each([60, 0])(
    'has a successor with its own end after an overlap of %i s',
    async (overlap) => {
      const { db, app, key } = await tenant('forgetful')
      await rotate(app.id, key.id, overlap)
      const second = await rotate(app.id, key.id, 60)
      expect(second?.key.expiresAt).toBeNull()
      const { authenticateKey } = createAuthenticator(db)
      expect(await authenticateKey(second?.apiKey ?? '')).toMatchObject({ appId: app.id })
      await rotate(app.id, second?.key.id ?? '', 0)
      expect((await rotate(app.id, key.id, 60))?.key.expiresAt).toBeNull()
    },
  )

  test('is refused where that end has passed', async () => {
    const { db, app, key } = await tenant('late')
    const ended = new Date(Date.now() - 1_000)
    await db.updateTable('keys').set({ expires_at: ended }).where('id', '=', key.id).execute()
    await expect(rotate(app.id, key.id, 60)).rejects.toThrow(
      `The key ended at ${ended.toISOString()}: create another one.`,
    )
    expect(await listKeys(db, app.id)).toHaveLength(1)
  })
})

describe('secrets at rest', () => {
  const masterKey = Buffer.alloc(32, 7)
  const secret = fc.string({ unit: 'binary', maxLength: 200 })

  test('come back as they were, and never look the same twice', () => {
    fc.assert(
      fc.property(secret, fc.string(), (text, purpose) => {
        const [a, b] = [1, 2].map(() => encryptSecret(masterKey, purpose, text))
        expect(decryptSecret(masterKey, purpose, a!)).toBe(Buffer.from(text).toString())
        expect(a!.equals(b!)).toBe(false)
      }),
    )
  })

  test('do not decrypt when a bit, the purpose or the key is another', () => {
    fc.assert(
      fc.property(secret, fc.nat(), (text, bit) => {
        const bytes = encryptSecret(masterKey, 'tank', text)
        const place = (bit >> 3) % bytes.length
        bytes[place]! ^= 1 << (bit & 7)
        expect(() => decryptSecret(masterKey, 'tank', bytes)).toThrow('master key')
      }),
    )
    const bytes = encryptSecret(masterKey, 'tank', 'x')
    expect(() => decryptSecret(masterKey, 'webhook', bytes)).toThrow('webhook')
    expect(() => decryptSecret(Buffer.alloc(32), 'tank', bytes)).toThrow('master key')
  })

  test('the master key is made once, readable by its owner only', () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-key-'))
    try {
      const made = loadMasterKey(undefined, folder)
      expect(loadMasterKey(undefined, folder).equals(made)).toBe(true)
      expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600)
      expect(loadMasterKey(made.toString('base64'), '/none').equals(made)).toBe(true)
      expect(loadMasterKey(`0x${made.toString('hex')}`, '/none').equals(made)).toBe(true)
      expect(() => loadMasterKey('short', folder)).toThrow('PURSER_MASTER_KEY')
      writeFileSync(join(folder, 'master.key'), 'cut')
      expect(() => loadMasterKey(undefined, folder)).toThrow('master.key must be 32 bytes')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('processes that start at once have one master key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-key-'))
    const program = pathToFileURL(resolve('dist/tenants/secrets.js')).href
    const script = `const { loadMasterKey } = await import('${program}')
      console.log(loadMasterKey(undefined, process.argv[1]).toString('hex'))`
    try {
      const run = () =>
        promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, folder])
      const keys = await Promise.all([1, 2, 3, 4].map(run))
      expect(new Set(keys.map(({ stdout }) => stdout)).size).toBe(1)
      expect(readdirSync(folder)).toEqual(['master.key'])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
