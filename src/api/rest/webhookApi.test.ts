import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { memoryKeys } from '../../../test/support/http/memoryServices.js'
import { useApi } from '../../../test/support/http/useApi.js'
import { defaultLimits } from '../routeContext.js'
import { interfaceDocument } from './interfaceDocument.js'

const url = 'https://dapp.example/hook?x=1'
const unknownId = '00000000-0000-4000-8000-000000000000'
const headers = { authToken: memoryKeys.authToken, apiKey: memoryKeys.apiKey }
const { memory, url: apiUrl } = useApi()

type Options = { headers?: Record<string, string>; query?: string; raw?: string }

/** Node's own client, because fetch cannot send a body with GET. */
function send(method: string, body?: unknown, options: Options = {}) {
  return new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
    const bytes = options.raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const outgoing = request(
      `${apiUrl()}/api/v2/public/sdk/webhook${options.query ?? ''}`,
      {
        method,
        headers: {
          ...(options.headers ?? headers),
          ...(bytes !== undefined && { 'content-length': String(Buffer.byteLength(bytes)) }),
        },
      },
      (response) => {
        let text = ''
        response.on('data', (data) => {
          text += data
        })
        response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(text) }))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(bytes)
  })
}

async function create(requestType = 'POST') {
  const { body } = await send('POST', { webhookUrl: url, requestType })
  return (body as { data: { webhookId: string } }).data.webhookId
}

function refused(statusCode: number, message: string) {
  return {
    status: statusCode,
    body: { statusCode, message },
  }
}

describe('the four operations', () => {
  test.each([['POST'], ['GET']])('create one that is called by %s', async (requestType) => {
    expect(await send('POST', { webhookUrl: url, requestType, extra: 1 })).toEqual({
      status: 200,
      body: {
        statusCode: 200,
        message: 'Webhook created',
        data: { webhookId: expect.any(String), webhookUrl: url, requestType },
      },
    })
    expect([...memory().webhooks.values()]).toMatchObject([{ appId: 'app-1', webhookUrl: url }])
  })

  test('get gives a list, with and without the body', async () => {
    const webhookId = await create()
    for (const body of [{ webhookUrl: '' }, {}, undefined])
      expect(await send('GET', body, { query: `?webhookId=${webhookId}` })).toEqual({
        status: 200,
        body: {
          statusCode: 200,
          message: 'Webhook list fetched',
          data: [{ webhookId, webhookUrl: url, requestType: 'POST' }],
        },
      })
  })

  test('get of an unknown id gives an empty list', async () => {
    for (const id of [unknownId, 'none', '', '%00'])
      expect(await send('GET', undefined, { query: `?webhookId=${id}` })).toEqual({
        status: 200,
        body: { statusCode: 200, message: 'Webhook list fetched', data: [] },
      })
  })

  test('update switches it off and on', async () => {
    const webhookId = await create()
    for (const active of [false, true]) {
      expect(await send('PATCH', { webhookId, active })).toEqual({
        status: 200,
        body: { statusCode: 200, message: 'Webhook updated' },
      })
      expect(memory().webhooks.get(webhookId)?.active).toBe(active)
    }
  })

  test('delete removes it', async () => {
    const webhookId = await create()
    expect(await send('DELETE', { webhookId })).toEqual({
      status: 200,
      body: { statusCode: 200, message: 'Webhook deleted' },
    })
    expect(memory().webhooks.size).toBe(0)
    expect(await send('DELETE', { webhookId })).toEqual(refused(404, 'Webhook not found'))
  })
})

describe('headers', () => {
  test.each([['POST'], ['PATCH'], ['DELETE']])('%s without both is 401', async (method) => {
    const message = 'Auth token and API key is required in the headers'
    for (const given of [{}, { authToken: 'x' }, { apiKey: 'x' }, { authToken: '', apiKey: 'x' }])
      expect(await send(method, {}, { headers: given as Record<string, string> })).toEqual(
        refused(401, message),
      )
  })

  test('get without them is 401 with its own sentence', async () => {
    for (const given of [{}, { apiKey: 'x' }, { authToken: 'x' }])
      expect(
        await send('GET', undefined, {
          headers: given as Record<string, string>,
          query: `?webhookId=${unknownId}`,
        }),
      ).toEqual(refused(401, 'Auth token is required in the headers'))
  })

  test('unknown credentials, or of two accounts, are 401 for every operation', async () => {
    const { authToken, apiKey, strangerKey, strangerToken } = memoryKeys
    for (const method of ['POST', 'GET', 'PATCH', 'DELETE'])
      for (const wrong of [
        { authToken, apiKey: 'unknown' },
        { authToken: 'unknown', apiKey },
        { authToken, apiKey: strangerKey },
        { authToken: strangerToken, apiKey },
        { authToken: apiKey, apiKey: authToken },
        { authToken: 'é', apiKey },
      ])
        expect(await send(method, {}, { headers: wrong })).toMatchObject({
          status: 401,
          body: {
            statusCode: 401,
            message: expect.stringMatching(/^Unknown auth token or API key/),
          },
        })
    expect(memory().calls).toEqual([])
  })

  test('names are case-insensitive', async () => {
    const lower = { authtoken: memoryKeys.authToken, APIKEY: memoryKeys.apiKey }
    expect((await send('GET', undefined, { headers: lower, query: '?webhookId=x' })).status).toBe(
      200,
    )
  })
})

test("another app's or account's webhook is not found and stays as it is", async () => {
  const webhookId = await create()
  for (const other of [
    { authToken: memoryKeys.authToken, apiKey: memoryKeys.siblingKey },
    { authToken: memoryKeys.strangerToken, apiKey: memoryKeys.strangerKey },
  ]) {
    const options = { headers: other }
    expect(await send('PATCH', { webhookId, active: false }, options)).toEqual(
      refused(404, 'Webhook not found'),
    )
    expect(await send('DELETE', { webhookId }, options)).toEqual(refused(404, 'Webhook not found'))
    expect(
      await send('GET', undefined, { ...options, query: `?webhookId=${webhookId}` }),
    ).toMatchObject({ status: 200, body: { data: [] } })
  }
  expect(memory().webhooks.get(webhookId)).toMatchObject({ appId: 'app-1', active: true })
})

describe('bodies', () => {
  const id = { webhookId: unknownId }
  test.each([
    ['POST', undefined, 'webhookUrl must be a string'],
    ['POST', {}, 'webhookUrl must be a string'],
    ['POST', { webhookUrl: 5, requestType: 'POST' }, 'webhookUrl must be a string'],
    ['POST', { webhookUrl: null, requestType: 'POST' }, 'webhookUrl must be a string'],
    ['POST', { webhookUrl: url }, 'requestType must be "GET" or "POST"'],
    ['POST', { webhookUrl: url, requestType: 'post' }, 'requestType must be "GET" or "POST"'],
    ['POST', { webhookUrl: url, requestType: 'PUT' }, 'requestType must be "GET" or "POST"'],
    ...[
      '',
      'x',
      'ftp://a.b',
      '//a.b',
      'https://',
      'https://a b',
      'https://a\u0000',
      'http:a.b',
    ].map(
      (webhookUrl) =>
        [
          'POST',
          { webhookUrl, requestType: 'POST' },
          'webhookUrl must be a valid http or https URL',
        ] as const,
    ),
    [
      'POST',
      { webhookUrl: `https://a.b/\ud800`, requestType: 'POST' },
      'webhookUrl must be a valid http or https URL',
    ],
    [
      'POST',
      { webhookUrl: `https://a.b/${'x'.repeat(2_048)}`, requestType: 'POST' },
      'webhookUrl must not exceed 2048 characters',
    ],
    ['PATCH', { active: true }, 'webhookId must be a string'],
    ['PATCH', { ...id }, 'active must be a boolean value'],
    ['PATCH', { ...id, active: 'true' }, 'active must be a boolean value'],
    ['PATCH', { ...id, active: 1 }, 'active must be a boolean value'],
    ['PATCH', { ...id, active: null }, 'active must be a boolean value'],
    ['DELETE', undefined, 'webhookId must be a string'],
    ['DELETE', { webhookId: 5 }, 'webhookId must be a string'],
    ['DELETE', { webhookId: [unknownId] }, 'webhookId must be a string'],
    ['DELETE', [], 'The body must be a JSON object'],
    ['DELETE', 'x', 'The body must be a JSON object'],
    ['GET', undefined, 'webhookId must be a string'],
  ] as const)('%s %o is 400: %s', async (method, body, message) => {
    expect(await send(method, body)).toEqual(refused(400, message))
    expect(memory().calls).toEqual([])
  })

  test('get checks the type of the body that it does not need', async () => {
    expect(await send('GET', { webhookUrl: 5 }, { query: `?webhookId=${unknownId}` })).toEqual(
      refused(400, 'webhookUrl must be a string'),
    )
  })

  test('an unknown id, of whatever form, is 404', async () => {
    for (const webhookId of [unknownId, '', 'x', `${unknownId}0`, "' or 1=1", '\u0000'])
      for (const [method, body] of [
        ['PATCH', { webhookId, active: true }],
        ['DELETE', { webhookId }],
      ] as const)
        expect(await send(method, body)).toEqual(refused(404, 'Webhook not found'))
  })

  test('that are no JSON or too large are refused in the same envelope', async () => {
    expect(await send('POST', undefined, { raw: '{' })).toEqual(
      refused(400, 'The body is not valid JSON.'),
    )
    const large = JSON.stringify('x'.repeat(defaultLimits.bodyBytes))
    expect(await send('DELETE', undefined, { raw: large })).toMatchObject({
      status: 413,
      body: { statusCode: 413 },
    })
  })
})

test('another HTTP method is 405 and names those that are', async () => {
  expect(await send('PUT', {})).toEqual(
    refused(405, 'HTTP method not allowed here. Use POST, GET, PATCH, DELETE.'),
  )
})

test('the document of the API is served to anyone', async () => {
  const answer = await fetch(`${apiUrl()}/api/v2/public/sdk/openapi.json`)
  expect(answer.headers.get('content-type')).toContain('application/json')
  expect(await answer.json()).toEqual(interfaceDocument())
})
