import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { openApi } from '../../../src/api/admin/openApi.js'
import { routes } from '../../../src/api/admin/routeTable.js'
import type { Json } from './jsonRpc.js'

const document: Json = openApi(routes)
const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ $id: 'document', components: document.components })

/** The document's references point into itself; here each schema stands alone. */
function compile(schema: Json): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')
  return ajv.compile(JSON.parse(text))
}

const failure = compile({ $ref: '#/components/schemas/Failure' })
const checks = routes.map(({ method, path, status, format }) => {
  const { responses } = document.paths[path][method.toLowerCase()]
  const [content] = Object.values<Json>(responses[status].content)
  return {
    method,
    path: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    status,
    isLines: format === 'lines',
    fits: compile(content.schema),
  }
})

/**
 * Expects an answer of `/admin/v1` to be what the OpenAPI document says, to the last member: that of the route where
 * it succeeded, else a failure.
 * @param path below /admin/v1
 */
export function expectDocumented(
  { method, path }: { readonly method: string; readonly path: string },
  answer: { readonly status: number; readonly body: Json },
): void {
  const [plain = ''] = path.split('?')
  const route = checks.find((each) => each.method === method && each.path.test(plain))
  const isOk = answer.status < 300
  if (isOk) expect(answer.status, `${method} ${plain}`).toBe(route?.status)
  const fits = isOk ? route?.fits : failure
  const values =
    isOk && route?.isLines ? answer.body.trim().split('\n').filter(Boolean) : [answer.body]
  for (const value of values) {
    fits?.(isOk && route?.isLines ? JSON.parse(value) : value)
    expect({ method, plain, value, errors: fits?.errors ?? null }).toMatchObject({ errors: null })
  }
}
