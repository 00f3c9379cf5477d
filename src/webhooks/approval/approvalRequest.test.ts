import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { InvalidParamsError } from '../../base/errors/requestErrors.js'
import { newSecret } from '../signing/signature.js'
import { version } from '../../base/version.js'
import { type ApprovalRequestInput, approvalRequest, type WebhookData } from './approvalRequest.js'

const secret = newSecret()
function build(webhookData: WebhookData, more: Partial<ApprovalRequestInput> = {}) {
  return approvalRequest({
    url: 'https://app.example/approve?tenant=7&q=a%20b',
    requestType: 'GET',
    secrets: [secret],
    extension: undefined,
    decisionId: '0d6ff0d8-19ab-4f0a-9b7c-6c5a3d4d3a11',
    webhookData,
    timestamp: Math.floor(Date.now() / 1000),
    ...more,
  })
}

function verify(content: string, headers: Readonly<Record<string, string>>) {
  return new Webhook(secret).verify(content, headers, { jsonParse: false })
}

const anyData = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { maxKeys: 5 })

describe('POST', () => {
  test('has one field, data, and nothing else', () => {
    const { url, method, headers, body } = build(
      { preferredName: 'x', nested: { list: [1, null, 'é'] } },
      { requestType: 'POST' },
    )
    expect(method).toBe('POST')
    expect(url.href).toBe('https://app.example/approve?tenant=7&q=a%20b')
    expect(body?.toString()).toBe('{"data":{"preferredName":"x","nested":{"list":[1,null,"é"]}}}')
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': `Purser/${version}`,
      'webhook-id': '0d6ff0d8-19ab-4f0a-9b7c-6c5a3d4d3a11',
    })
  })

  test('carries any data unchanged and signs the bytes that it sends', () => {
    fc.assert(
      fc.property(anyData, (data) => {
        const { headers, body } = build(data, { requestType: 'POST' })
        const text = body?.toString() ?? ''
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ data })))
        verify(text, headers)
      }),
    )
  })
})

describe('GET', () => {
  test('keeps the registered query and adds scalars, scalars of params, and data', () => {
    const data = { a: 'x y', n: 1.5, ok: true, no: null, list: [1], params: { b: 'ü&=', deep: {} } }
    const { url, body } = build(data)
    expect(body).toBeUndefined()
    const json = encodeURIComponent(JSON.stringify(data))
    expect(url.search).toBe(`?tenant=7&q=a%20b&a=x%20y&n=1.5&ok=true&b=%C3%BC%26%3D&data=${json}`)
  })

  test('needs no registered query', () => {
    const { url } = build({}, { url: 'https://app.example/approve' })
    expect(url.href).toBe('https://app.example/approve?data=%7B%7D')
  })

  test('lets params win over the top, data over both, and the registered names over all', () => {
    const { url } = build({ a: '1', data: 'fake', tenant: '8', params: { a: '2', tenant: '9' } })
    expect(url.searchParams.getAll('a')).toEqual(['2'])
    expect(url.searchParams.getAll('tenant')).toEqual(['7'])
    expect(url.searchParams.getAll('data')).toHaveLength(1)
    expect(JSON.parse(url.searchParams.get('data') ?? '')).toMatchObject({ data: 'fake' })
  })

  test('takes nothing but values from keys that a HTTP library would obey', () => {
    const { url, method, headers } = build({
      baseURL: 'http://127.0.0.1/',
      url: 'http://127.0.0.1/',
      method: 'DELETE',
      headers: { authorization: 'x' },
      proxy: { host: '127.0.0.1' },
    })
    expect(url.origin + url.pathname).toBe('https://app.example/approve')
    expect(method).toBe('GET')
    expect(Object.keys(headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'user-agent',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
    ])
  })

  test('carries any data unchanged and signs the query that it sends', () => {
    fc.assert(
      fc.property(anyData, (data) => {
        const { url, headers } = build(data)
        expect(JSON.parse(url.searchParams.get('data') ?? '')).toEqual(
          JSON.parse(JSON.stringify(data)),
        )
        expect(url.href.startsWith('https://app.example/approve?tenant=7&q=a%20b&')).toBe(true)
        verify(url.search.slice(1), headers)
      }),
    )
  })

  test('refuses more than 8 kB', () => {
    const left = 8192 - 'data=%7B%22l%22%3A%5B%22%22%5D%7D'.length
    expect(() => build({ l: ['x'.repeat(left)] })).not.toThrow()
    expect(() => build({ l: ['x'.repeat(left + 1)] })).toThrow(InvalidParamsError)
    expect(() => build({ l: ['x'.repeat(left + 1)] })).toThrow(/8193 bytes.*POST/)
  })
})
