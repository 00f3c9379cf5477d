import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { exampleOperation } from '../../src/api/methods/examples.js'
import { routes } from '../../src/api/admin/routeTable.js'
import { fillTenant, storeOperation, type TenantObjects } from '../support/database/fillTenant.js'
import { operatorToken, useAdmin } from '../support/http/useAdmin.js'

const { send, admin, database, one, two } = useAdmin()

let ids: TenantObjects
beforeAll(async () => {
  ids = await fillTenant(database(), one())
})

async function shareOne(days?: number) {
  const { appId, token } = one()
  const hash = await storeOperation(database(), appId)
  const { keyId = '' } = ids
  await sql`update operations set key_id = ${keyId} where hash = ${hash}`.execute(database())
  const path = `/operations/31337/${hash}`
  const made = await admin('POST', `${path}/shares`, token, days === undefined ? {} : { days })
  expect(made.status).toBe(201)
  const headers = { authorization: `Bearer ${made.body.token}` }
  return { path, hash, keyId, headers, ...made.body }
}

describe('a link to an operation', () => {
  test('shows that operation and its chain, without the key that sent it, and is not indexed', async () => {
    const { path, headers, hash, keyId } = await shareOne()
    const { status, body, headers: answered } = await send('GET', path, headers)
    expect({ status, hash: body.userOpHash, keyId: body.keyId }).toEqual({
      status: 200,
      hash,
      keyId: null,
    })
    expect(body.timeline.find((each: { kind: string }) => each.kind === 'received')).toMatchObject({
      keyId: null,
      keyName: null,
    })
    expect(JSON.stringify(body)).not.toContain(keyId)
    expect(answered.get('x-robots-tag')).toBe('noindex')
    expect(answered.get('referrer-policy')).toBe('no-referrer')
    const mine = await admin('GET', path, one().token)
    expect(mine.body).toMatchObject({ keyId, userOpHash: hash })
    const chains = await send('GET', '/chains', headers)
    expect(chains.status).toBe(200)
    for (const { chainId } of chains.body.items) expect(chainId).toBe(31_337)
  })

  test('shows no signature until the operation is included', async () => {
    const { path, headers, hash } = await shareOne()
    const signed = exampleOperation.signature
    const signatureFor = async (with_: Record<string, string>) =>
      (await send('GET', path, with_)).body.operation.signature
    expect(await signatureFor(headers)).toBeUndefined()
    expect((await admin('GET', path, one().token)).body.operation.signature).toBe(signed)
    await sql`insert into inclusions (chain_id, user_op_hash, entry_point, sender, nonce, paymaster, success,
      actual_gas_cost, actual_gas_used, reason, transaction_hash, block_number, block_hash, block_time, first_log, log_index)
      select chain_id, hash, entry_point, sender, nonce, '0x', true, 1, 1, '0x', hash, 1, hash, now(), 0, 0
      from operations where hash = ${hash}`.execute(database())
    expect(await signatureFor(headers)).toBe(signed)
  })

  test('opens nothing else: no other operation, no other route, no change', async () => {
    const { headers, path } = await shareOne()
    const other = await storeOperation(database(), one().appId)
    for (const wrong of [`/operations/31337/${other}`, path.replace('31337', '1')])
      expect((await send('GET', wrong, headers)).status).toBe(403)
    expect((await send('GET', `${path}/replay?callGasLimit=1`, headers)).status).toBe(403)
    const seen: string[] = []
    for (const { method, path: named, isShared, who } of routes) {
      if (isShared || who === 'anybody') continue
      const asked = named.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name)
      const own = asked.replace(ids.userOpHash ?? '', path.split('/').at(-1) ?? '')
      const body = method === 'GET' ? undefined : {}
      const { status } = await send(method, own, headers, body)
      if (status !== 403) seen.push(`${method} ${named} ${status}`)
    }
    expect(seen).toEqual([])
    expect(
      routes.filter(({ isShared }) => isShared).map(({ method, path }) => `${method} ${path}`),
    ).toMatchInlineSnapshot(`
        [
          "GET /operations/{chainId}/{userOpHash}",
          "GET /operations/{chainId}/{userOpHash}/advice",
          "GET /operations/{chainId}/{userOpHash}/waterfall",
          "GET /chains",
          "GET /operations/{chainId}/{userOpHash}/replay",
        ]
      `)
  })

  test('cannot be moved into another account by a header, nor be read with one changed letter', async () => {
    const { path, headers, token } = await shareOne()
    const moved = await send('GET', path, { ...headers, 'purser-account': two().accountId })
    expect(moved.body.appId).toBe(one().appId)
    const changed = token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')
    expect((await send('GET', path, { authorization: `Bearer ${changed}` })).status).toBe(401)
  })

  test('ends when it is withdrawn, when its time has come, and with its app', async () => {
    const { path, headers, share } = await shareOne()
    const status = async (with_ = headers) => (await send('GET', path, with_)).status
    expect((await admin('DELETE', `/shares/${share.id}`, two().token)).status).toBe(404)
    expect(await status()).toBe(200)
    expect((await admin('DELETE', `/shares/${share.id}`, one().token)).status).toBe(200)
    expect(await status()).toBe(401)

    const late = await shareOne(1)
    expect(Date.parse(late.share.expiresAt) - Date.parse(late.share.createdAt)).toBe(86_400_000)
    await sql`update shares set expires_at = now() where id = ${late.share.id}`.execute(database())
    expect((await send('GET', late.path, late.headers)).status).toBe(401)
    const listed = await admin('GET', '/shares', one().token)
    expect(listed.body.items.map(({ id }: { id: string }) => id)).not.toContain(late.share.id)

    const left = await shareOne()
    await sql`update apps set revoked_at = now() where id = ${one().appId}`.execute(database())
    expect((await send('GET', left.path, left.headers)).status).toBe(401)
    await sql`update apps set revoked_at = null where id = ${one().appId}`.execute(database())
    expect((await send('GET', left.path, left.headers)).status).toBe(200)
  })

  test('is made for 1 to 30 days, for an operation of the account, with an entry in the log and no token in the database', async () => {
    const { path, share, token } = await shareOne(30)
    expect(token).toMatch(/^sh\.\w{40}$/)
    for (const days of [0, 31, 1.5])
      expect((await admin('POST', `${path}/shares`, one().token, { days })).status).toBe(400)
    expect((await admin('POST', `${path}/shares`, two().token, {})).status).toBe(404)
    const byOperator = await admin('POST', `${path}/shares`, operatorToken, {})
    expect(byOperator.body.share).toMatchObject({ appId: one().appId })
    const { rows } = await sql<{ after: object; account_id: string }>`select after, account_id
      from audit_log where action = 'share.create' and object_id = ${share.id}`.execute(database())
    expect(rows).toMatchObject([{ account_id: one().accountId, after: { id: share.id } }])
    const all =
      await sql`select row_to_json(s)::text || coalesce((select string_agg(a.after::text, '')
      from audit_log a), '') as text from shares s`.execute(database())
    expect(JSON.stringify(all.rows)).not.toContain(token.slice(3))
  })
})
