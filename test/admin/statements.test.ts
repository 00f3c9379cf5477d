import { createHash, createPublicKey, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { operatorToken, useAdmin } from '../support/http/useAdmin.js'

const { admin, database, one, two } = useAdmin()

const january = { from: '2026-01-01T00:00:00.000Z', until: '2026-02-01T00:00:00.000Z' }
const make = (body: object, token = one().token) =>
  admin('POST', `/apps/${one().appId}/statements`, token, body)

describe('a statement', () => {
  test('is read again with the same bytes, which anybody can verify', async () => {
    const { status, body: made } = await make(january)
    expect({ status, ...made }).toMatchObject({ status: 201, appId: one().appId, ...january })
    const { body: first } = await admin('GET', `/statements/${made.id}`, one().token)
    const { body: again } = await admin('GET', `/statements/${made.id}`, operatorToken)
    expect(again).toEqual(first)
    const { content, digest, signature, publicKey } = first
    expect(createHash('sha256').update(content).digest('hex')).toBe(digest)
    const key = createPublicKey({
      key: Buffer.from(publicKey, 'base64'),
      format: 'der',
      type: 'spki',
    })
    const isOf = (text: string) =>
      verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'))
    expect(isOf(content)).toBe(true)
    expect(isOf(`${content} `)).toBe(false)
    expect(JSON.parse(content)).toMatchObject({ appId: one().appId, ...january })
    const { body: second } = await make(january)
    expect((await admin('GET', `/statements/${second.id}`, one().token)).body).toMatchObject({
      content,
      signature,
    })
  })

  test('needs no chain that is not served any more, but for what may be in its range', async () => {
    const { appId } = one()
    const at = (updated_at: string, state: 'settled' | 'open') => ({
      app_id: appId,
      chain_id: 5n,
      entry_point: `0x${'11'.repeat(20)}` as const,
      sender: `0x${'22'.repeat(20)}` as const,
      nonce: 0n,
      paymaster: `0x${'33'.repeat(20)}` as const,
      max_cost: 1n,
      valid_until: 1n,
      state,
      created_at: new Date('2025-12-01T00:00:00Z'),
      updated_at: new Date(updated_at),
    })
    const put = (row: ReturnType<typeof at>) =>
      database().insertInto('reservations').values(row).execute()
    await put(at('2025-12-31T23:59:59Z', 'settled'))
    expect((await make(january)).status).toBe(201)
    await put(at('2025-12-31T23:59:59Z', 'open'))
    expect(await make(january)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('Chain 5') },
    })
    await database().deleteFrom('reservations').where('app_id', '=', appId).execute()
  })

  test('belongs to its account', async () => {
    const { body: made } = await make(january)
    expect((await make(january, two().token)).status).toBe(404)
    expect((await admin('GET', `/statements/${made.id}`, two().token)).status).toBe(404)
    const idsOf = async (token: string) =>
      (await admin('GET', '/statements', token)).body.items.map(({ id }: { id: string }) => id)
    expect(await idsOf(two().token)).toEqual([])
    expect(await idsOf(one().token)).toContain(made.id)
    const page = await admin('GET', '/statements?limit=1', one().token)
    const next = await admin('GET', `/statements?limit=1&before=${page.body.next}`, one().token)
    expect(next.body.items[0].id).not.toBe(page.body.items[0].id)
  })

  test('is refused for a range that is not over, is none, is too long, or began before the records', async () => {
    const { from } = january
    const later = new Date(Date.now() + 60_000).toISOString()
    const soon = new Date(Date.now() - 60_000).toISOString()
    expect((await make({ from: soon, until: later })).status).toBe(409)
    expect((await make({ from, until: from })).status).toBe(400)
    expect((await make({ from: '2025-01-01T00:00:00.000Z', until: soon })).status).toBe(400)
    const old = { from: '1969-12-01T00:00:00.000Z', until: '1970-01-01T00:00:00.000Z' }
    expect((await make(old)).body.message).toContain('older records were deleted')
  })
})
