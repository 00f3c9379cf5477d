import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import { startTroubledNode, type TroubledNode } from '../chain/troubledNode.js'
import type { Json, RpcAnswer } from '../http/jsonRpc.js'
import { prepareServing, type Serving } from '../service/serving.js'
import { until } from '../until.js'

/** The way in which the app's webhook answers a question. */
export type HookAnswer = 'denies' | 'fails' | 'hangs'

/** A served chain with an app, its tank, its webhook and a node that can go away: 20 things fail on it. */
export type FailureWorld = {
  readonly serving: Serving
  readonly info: DevInfo
  readonly appId: string
  readonly node: TroubledNode
  readonly hook: { readonly url: string; answer: HookAnswer }
  /** A call with the header that the service answered, by which a developer finds a refusal. */
  ask(
    url: string,
    method: string,
    params: unknown,
  ): Promise<RpcAnswer['body'] & { requestId: string }>
  /** The administration API with the account's token. */
  admin(method: string, path: string, body?: unknown): Promise<Json>
  debug(method: string, ...params: unknown[]): Promise<void>
  /** Operations gather in the pool while `run` runs; then all that may be are bundled and mined. */
  unbundled<Result>(run: () => Promise<Result>): Promise<Result>
  stop(): Promise<void>
}

/** Operations that the pool holds at most: few, so that one can be evicted. */
export const POOL_SIZE = 4
const DENIAL = 'the daily prize is gone'

/**
 * @param environment further settings of the service, such as its first user
 */
export async function openFailureWorld(
  chainId: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<FailureWorld> {
  const hook = await startHook()
  let node: TroubledNode | undefined
  const serving = await prepareServing(
    chainId,
    async ({ rpcUrl }) => {
      node = await startTroubledNode(rpcUrl)
      return { rpcUrls: [node.url], maxOperations: POOL_SIZE, facts: { resubmitAfter: 2_000 } }
    },
    { OWNER_KEY: devKey(3), PURSER_DEBUG_METHODS: 'true', PURSER_WEBHOOK_ALLOW: '127.0.0.1' },
  )
  if (node === undefined) throw new Error('the chain was not configured')
  await serving.start(environment)
  const info = serving.info()

  const admin: FailureWorld['admin'] = async (method, path, body) => {
    const response = await fetch(`${info.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${info.authToken}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return response.json()
  }
  const ask: FailureWorld['ask'] = async (url, method, params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const body = (await response.json()) as RpcAnswer['body']
    return { ...body, requestId: response.headers.get('x-request-id') ?? '' }
  }
  const debug: FailureWorld['debug'] = async (method, ...params) => {
    const { error } = await ask(info.standardUrl, `debug_bundler_${method}`, params)
    if (error) throw new Error(error.message)
  }
  const { items } = await admin('GET', '/apps')
  const appId: string = items[0].id
  const target = ['--app', appId, '--chain', String(chainId), '--entry-point', '0.6']
  await serving.commands.answer(
    'tank',
    'deposit',
    ...target,
    '--amount',
    '1',
    '--key',
    'env:OWNER_KEY',
  )

  return {
    serving,
    info,
    appId,
    node,
    hook,
    ask,
    admin,
    debug,
    async unbundled(run) {
      await debug('setBundlingMode', 'manual')
      try {
        return await run()
      } finally {
        await debug('sendBundleNow')
        await debug('setBundlingMode', 'auto')
        await until(async () => {
          const pooled = await admin('GET', '/operations?state=pooled')
          const bundled = await admin('GET', '/operations?state=bundled')
          return pooled.items.length + bundled.items.length === 0
        })
      }
    },
    async stop() {
      await serving.stop()
      await node?.stop()
      await hook.stop()
    },
  }
}

async function startHook() {
  const hook = { url: '', answer: 'denies' as HookAnswer, stop: async () => {} }
  const server = createServer((request, response) => {
    request.resume()
    if (hook.answer === 'hangs') return
    if (hook.answer === 'fails') response.writeHead(503).end()
    else response.end(JSON.stringify({ arePoliciesVerified: false, reason: DENIAL }))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  hook.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/approve`
  hook.stop = async () => {
    server.closeAllConnections()
    server.close()
  }
  return hook
}
