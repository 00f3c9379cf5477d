import { describe, expect, test } from 'vitest'
import { webhookApi } from '../support/http/webhookApi.js'
import { createTenant } from '../support/service/createTenant.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const purser = useRunningPurser()
function info() {
  return purser().info
}

const URL_1 = 'http://127.0.0.1:9/hook'
const unknownId = '00000000-0000-4000-8000-000000000000'

type Options = Parameters<typeof webhookApi>[2]
function api(method: string, options: Options) {
  return webhookApi(info(), method, options)
}

function create(body: unknown = { webhookUrl: URL_1, requestType: 'POST' }) {
  return api('POST', { body })
}
function get(webhookId: string) {
  return api('GET', { query: `?webhookId=${webhookId}`, body: { webhookUrl: '' } })
}

/** Runs with a fresh webhook and deletes it afterwards: an app has few of them. */
async function withWebhook(run: (webhookId: string) => Promise<void>) {
  const { body } = await create()
  try {
    await run(body.data.webhookId)
  } finally {
    await api('DELETE', { body: { webhookId: body.data.webhookId } })
  }
}

describe('Webhook management API', () => {
  test.each(['GET', 'POST'])('Create with requestType %s', async (requestType) => {
    const { status, body } = await create({ webhookUrl: URL_1, requestType })
    expect(status).toBe(200)
    expect(body).toEqual({
      statusCode: 200,
      message: 'Webhook created',
      data: { webhookId: expect.any(String), webhookUrl: URL_1, requestType },
    })
    await api('DELETE', { body: { webhookId: body.data.webhookId } })
  })

  test('Get', () =>
    withWebhook(async (webhookId) => {
      const expected = {
        statusCode: 200,
        message: 'Webhook list fetched',
        data: [{ webhookId, webhookUrl: URL_1, requestType: 'POST' }],
      }
      expect(await get(webhookId)).toEqual({ status: 200, body: expected })
      const withoutBody = await api('GET', { query: `?webhookId=${webhookId}` })
      expect(withoutBody).toEqual({ status: 200, body: expected })
    }))

  test('Update status', () =>
    withWebhook(async (webhookId) => {
      for (const active of [false, true]) {
        const answer = await api('PATCH', { body: { webhookId, active } })
        expect(answer).toEqual({
          status: 200,
          body: { statusCode: 200, message: 'Webhook updated' },
        })
      }
    }))

  test('Delete', async () => {
    const { body } = await create()
    const webhookId = body.data.webhookId
    expect(await api('DELETE', { body: { webhookId } })).toEqual({
      status: 200,
      body: { statusCode: 200, message: 'Webhook deleted' },
    })
    const again = await api('DELETE', { body: { webhookId } })
    expect(again).toEqual({
      status: 404,
      body: { statusCode: 404, message: 'Webhook not found' },
    })
  })

  test.each([
    [{ requestType: 'POST' }, 'webhookUrl'],
    [{ webhookUrl: 5, requestType: 'POST' }, 'webhookUrl'],
    [{ webhookUrl: 'not a url', requestType: 'POST' }, 'webhookUrl'],
    [{ webhookUrl: 'ftp://127.0.0.1/x', requestType: 'POST' }, 'webhookUrl'],
    [{ webhookUrl: URL_1 }, 'requestType'],
    [{ webhookUrl: URL_1, requestType: 'PUT' }, 'requestType'],
  ])('Create with a wrong body is 400 with a sentence (%#)', async (wrong, field) => {
    const { status, body } = await create(wrong)
    expect(status).toBe(400)
    expect(body).toEqual({ statusCode: 400, message: expect.stringContaining(field) })
  })

  test('extra fields are ignored', async () => {
    const { status, body } = await create({
      webhookUrl: URL_1,
      requestType: 'GET',
      active: 'perhaps',
      colour: 'red',
    })
    expect(status).toBe(200)
    await api('DELETE', { body: { webhookId: body.data.webhookId, colour: 'red' } })
  })
})

describe('Errors, Webhook API', () => {
  const all = 'Auth token and API key is required in the headers'
  const headerCases = [{}, { authToken: 'x' }, { apiKey: 'x' }]

  test.each(['POST', 'PATCH', 'DELETE'])(
    '401 on %s without authToken and apiKey',
    async (method) => {
      for (const headers of headerCases) {
        const answer = await api(method, { headers, body: {} })
        expect(answer).toEqual({ status: 401, body: { statusCode: 401, message: all } })
      }
    },
  )

  test('401 on get without the required header', async () => {
    const answer = await api('GET', { headers: {}, query: '?webhookId=x' })
    expect(answer).toEqual({
      status: 401,
      body: { statusCode: 401, message: 'Auth token is required in the headers' },
    })
  })

  test.each(['yes', 1, null, undefined])('400 on update with active %j', (active) =>
    withWebhook(async (webhookId) => {
      const answer = await api('PATCH', { body: { webhookId, active } })
      expect(answer).toEqual({
        status: 400,
        body: { statusCode: 400, message: 'active must be a boolean value' },
      })
    }),
  )

  test.each([5, null, undefined, {}])('400 on delete with webhookId %j', async (webhookId) => {
    const answer = await api('DELETE', { body: { webhookId } })
    expect(answer).toEqual({
      status: 400,
      body: { statusCode: 400, message: 'webhookId must be a string' },
    })
  })

  test.each([unknownId, 'nonsense', ''])('404 with an unknown webhookId %j', async (webhookId) => {
    const notFound = { status: 404, body: { statusCode: 404, message: 'Webhook not found' } }
    expect(await api('PATCH', { body: { webhookId, active: true } })).toEqual(notFound)
    expect(await api('DELETE', { body: { webhookId } })).toEqual(notFound)
  })
})

describe('Authentication', () => {
  test('authToken and apiKey: wrong ones are 401 with another message', async () => {
    const { authToken, apiKey } = info()
    for (const headers of [
      { authToken: 'wrong', apiKey },
      { authToken, apiKey: 'wrong' },
    ]) {
      const { status, body } = await api('POST', { headers, body: {} })
      expect(status).toBe(401)
      expect(body).toEqual({ statusCode: 401, message: expect.any(String) })
      expect(body.message).not.toBe('Auth token and API key is required in the headers')
    }
  })
  test('the key of another account is 401', async () => {
    const stranger = await createTenant(purser().dataFolder, 'stranger')
    const headers = { authToken: stranger.authToken, apiKey: info().apiKey }
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE'])
      expect((await api(method, { headers, query: '?webhookId=x' })).status).toBe(401)
  })

  test.each(['viewer', 'developer'] as const)(
    'a token with the role %s reads, and changes what its role may',
    async (role) => {
      const made = await fetch(`${info().url}/admin/v1/auth-tokens`, {
        method: 'POST',
        headers: { authToken: info().authToken },
        body: JSON.stringify({ name: role, role }),
      })
      const { authToken } = (await made.json()) as { authToken: string }
      const headers = { authToken, apiKey: info().apiKey }
      const read = await api('GET', { headers, query: `?webhookId=${unknownId}` })
      expect(read.status).toBe(200)
      // What is asked for is wrong: only a role that suffices gets as far as that.
      for (const method of ['POST', 'PATCH', 'DELETE']) {
        const answer = await api(method, { headers, body: {} })
        const refusal = { statusCode: 403, message: 'This needs the role developer' }
        if (role === 'viewer') expect(answer).toEqual({ status: 403, body: refusal })
        else expect(answer.status).toBe(400)
      }
    },
  )
})
