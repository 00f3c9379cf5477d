import { Ajv, type ValidateFunction } from 'ajv'
import { expect } from 'vitest'
import { documents } from '../../../src/api/openRpc/openRpc.js'
import { type Json, type RpcAnswer, result, rpc } from './jsonRpc.js'

type Document = {
  readonly methods: readonly { readonly name: string; readonly result: { schema: object } }[]
}

/** The results of a dialect's methods by name, compiled when first asked for. */
function createChecks(document: unknown): (method: string) => ValidateFunction | undefined {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addSchema({ ...(document as object), $id: 'document' })
  const { methods } = document as Document
  const compiled = new Map<string, ValidateFunction>()
  return (method) => {
    const schema = methods.find(({ name }) => name === method)?.result.schema
    if (schema === undefined) return undefined
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')
    const fits = compiled.get(method) ?? ajv.compile(JSON.parse(text))
    compiled.set(method, fits)
    return fits
  }
}

const checks = {
  classic: createChecks(documents.classic),
  standard: createChecks(documents.standard),
}

/** One JSON-RPC request as `rpc` makes it, whose result must be as the OpenRPC document says. */
export async function describedRpc(
  url: string,
  method: string,
  params: unknown,
  id: unknown = 1,
): Promise<RpcAnswer> {
  const answer = await rpc(url, method, params, id)
  if (answer.body.error === undefined) expectDescribed(url, method, answer.body.result)
  return answer
}

/** The result of a request that must succeed, and be as described. */
export async function describedResult(url: string, method: string, params: unknown): Promise<Json> {
  const value = await result(url, method, params)
  expectDescribed(url, method, value)
  return value
}

/** Expects the result of a method to be what the OpenRPC document of the URL's dialect says, to the last member. */
function expectDescribed(url: string, method: string, result: unknown): void {
  const [, version] = /\/api\/(v[123])\//.exec(url) ?? []
  if (version === undefined) throw new Error(`${url} names no dialect`)
  const dialect =
    /[?&]dialect=(classic|standard)/.exec(url)?.[1] ?? (version === 'v3' ? 'standard' : 'classic')
  const fits = checks[dialect === 'standard' ? 'standard' : 'classic'](method)
  expect(fits, `${method} is described`).toBeDefined()
  fits?.(result)
  expect({ method, dialect, result, errors: fits?.errors ?? null }).toMatchObject({ errors: null })
}
