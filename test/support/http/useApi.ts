import { pino } from 'pino'
import { afterEach, beforeEach } from 'vitest'
import { commonErrors } from '../../../src/api/methods/method.js'
import { isMethodName, methods } from '../../../src/api/methods/methodList.js'
import { mountHealth } from '../../../src/api/mountHealth.js'
import { type ApiLimits, defaultLimits } from '../../../src/api/routeContext.js'
import type { Services } from '../../../src/api/services.js'
import { type Api, startApi } from '../../../src/api/startApi.js'
import type { ErrorCode } from '../../../src/base/errors/catalogue.js'
import { createMetrics, type MetricsPage } from '../../../src/telemetry/createMetrics.js'
import type { Json } from './jsonRpc.js'
import { createMemoryServices, memoryKeys } from './memoryServices.js'

type Start = {
  readonly limits?: ApiLimits
  readonly port?: number
  readonly services?: Services
  readonly metrics?: MetricsPage
}

/** A fresh HTTP server over services in memory for every test of the file. */
export function useApi() {
  let memory: ReturnType<typeof createMemoryServices>
  let api: Api
  let logged: string[]

  const start = ({ limits = defaultLimits, port = 0, ...given }: Start = {}) =>
    startApi({
      services: given.services ?? memory.services,
      host: '127.0.0.1',
      port,
      logger: pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) }),
      limits,
      metrics: given.metrics ?? createMetrics(),
      mounts: [mountHealth(memory.services)],
    })

  beforeEach(async () => {
    memory = createMemoryServices()
    logged = []
    api = await start()
  })
  afterEach(() => api.close())

  const post = async (path: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) => {
    const response = await fetch(`${api.url}${path}`, { method: 'POST', body, headers })
    const text = await response.text()
    const parsed: Json = text === '' ? '' : JSON.parse(text)
    return { status: response.status, headers: response.headers, body: parsed }
  }

  return {
    memory: () => memory,
    url: () => api.url,
    /** Lines of the log, debug included. */
    logged: () => logged,
    close: () => api.close(),
    drain: () => api.drain(),
    start,
    /** Another server in place of the running one. */
    restart: async (options: Start) => {
      await api.close()
      api = await start(options)
    },
    post,
    /** One JSON-RPC call; `version` may carry a query. */
    call: async (version: string, method: string, params: unknown, id: unknown = 1) => {
      const request = { method, params, id, jsonrpc: '2.0' }
      const answer = await post(rpcPath(version), JSON.stringify(request))
      requireDeclaredError(method, answer.body?.error?.code)
      return answer
    },
  }
}

/** Throws where a method answers an error code that its description does not name. */
function requireDeclaredError(method: string, code: ErrorCode | undefined): void {
  if (code === undefined || !isMethodName(method)) return
  if (![...commonErrors, ...methods[method].errors].includes(code))
    throw new Error(`${method} answers ${code}, which its description does not name`)
}

/** The path of the development chain and key. */
export function rpcPath(version: string): string {
  return `/api/${version}/31337/${memoryKeys.apiKey}`
}
