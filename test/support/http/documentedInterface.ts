import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { interfaceDocument } from '../../../src/api/rest/interfaceDocument.js'
import type { Json } from './jsonRpc.js'

export const document: Json = interfaceDocument()
const ajv = new Ajv2020({ strict: false, validateFormats: false })

const failure = ajv.compile(document.components.schemas.Failure)
const routes = Object.entries<Json>(document.paths).flatMap(([path, operations]) =>
  Object.entries<Json>(operations).map(([method, { requestBody, responses }]) => ({
    method: method.toUpperCase(),
    template: path,
    path: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    takes: requestBody && ajv.compile(requestBody.content['application/json'].schema),
    answers: ajv.compile(responses[200].content['application/json'].schema),
  })),
)
const calls = new Map(
  Object.entries<Json>(document.webhooks).map(([name, { post }]) => [
    name,
    ajv.compile(post.requestBody.content['application/json'].schema),
  ]),
)

/** Whether the document says that the operation takes the body. */
export function isTaken(method: string, path: string, body: unknown): boolean {
  const route = routes.find((each) => each.method === method && each.path.test(path))
  if (route?.takes === undefined) throw new Error(`${method} ${path} has no body`)
  return route.takes(body) as boolean
}

function expectFit(fits: ValidateFunction | undefined, value: unknown, what: string): void {
  fits?.(value)
  expect({ what, value, errors: fits?.errors ?? null }).toMatchObject({ errors: null })
  expect(fits, what).toBeDefined()
}

/** Expects an answer of the webhook API to be what its document says. */
export function expectDocumentedAnswer(
  method: string,
  path: string,
  { status, body }: { readonly status: number; readonly body: Json },
): void {
  const [plain = ''] = path.split('?')
  const route = routes.find((each) => each.method === method && each.path.test(plain))
  expectFit(status === 200 ? route?.answers : failure, body, `${method} ${plain}`)
}

/** Expects the body of a call to a customer to be what the document says: an approval, or an event of its type. */
export function expectDocumentedCall(body: string): void {
  const parsed = JSON.parse(body) as { readonly type?: string }
  const name = calls.has(parsed.type ?? '') ? (parsed.type ?? '') : 'approval'
  expectFit(calls.get(name), parsed, name)
}
