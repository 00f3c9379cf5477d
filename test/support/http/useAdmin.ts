import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import type { AdminContext } from '../../../src/api/adminContext.js'
import { mountAdmin } from '../../../src/api/mountAdmin.js'
import { mountMetrics } from '../../../src/api/mountHealth.js'
import { defaultLimits } from '../../../src/api/routeContext.js'
import { type Api, startApi } from '../../../src/api/startApi.js'
import {
  createOutboundClient,
  type OutboundClient,
} from '../../../src/base/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../../src/base/outbound/networkGuard.js'
import { tankFactoryAddress } from '../../../src/chain/contracts/deployments.js'
import { listCollected } from '../../../src/paymaster/ledger/tokenPayments.js'
import { registerTank } from '../../../src/paymaster/tanks.js'
import { createFeeds, type Feeds } from '../../../src/records/createFeeds.js'
import { createOverviews } from '../../../src/records/overview.js'
import { createStatementSigner } from '../../../src/records/statements/statement.js'
import { createMetrics } from '../../../src/telemetry/createMetrics.js'
import { createAccount } from '../../../src/tenants/accounts.js'
import { createTenantApp } from '../../../src/tenants/apps.js'
import { audited } from '../../../src/tenants/audit.js'
import { createAuthenticator } from '../../../src/tenants/authenticate.js'
import { createOperatorCheck } from '../../../src/tenants/credential.js'
import { createSignInLinks } from '../../../src/tenants/people/createSignInLinks.js'
import { createPasswords } from '../../../src/tenants/people/passwords.js'
import { createWebhooks } from '../../../src/webhooks/manage.js'
import { createSubscriptions } from '../../../src/webhooks/subscriptions.js'
import { testWebhook } from '../../../src/webhooks/testWebhook.js'
import { testActor } from '../actor.js'
import { useDatabase } from '../database/database.js'
import { silent } from '../logger.js'
import { expectDocumented } from './documented.js'
import type { Json } from './jsonRpc.js'
import { memoryInstance } from './memoryInstance.js'
import { createMemoryServices } from './memoryServices.js'

export const operatorToken = 'an-operator-token-of-32-characters-or-more'

const unlimited = { perSecond: 0, burst: 0 }

export type Tenant = { readonly accountId: string; readonly appId: string; readonly token: string }
export type Answer = { readonly status: number; readonly headers: Headers; readonly body: Json }

const fixedLevel: AdminContext['levelOf'] = async ({ chain_id: chainId }) =>
  chainId === 31_337n ? { deposit: 5n, locked: 2n, runway: { daily: 1n, days: 3 } } : undefined

/** The administration API over a real database, with two tenants; for all tests of a file. */
export function useAdmin({ levelOf = fixedLevel }: Partial<Pick<AdminContext, 'levelOf'>> = {}) {
  const database = useDatabase()
  const masterKey = randomBytes(32)
  const { services } = createMemoryServices()
  const signInLinks = createSignInLinks()
  let api: Api
  let client: OutboundClient
  let feeds: Feeds
  let tenants: readonly [Tenant, Tenant]

  const makeTenant = (name: string): Promise<Tenant> =>
    audited(database().database, testActor, async (change) => {
      const { account, authToken } = await createAccount(change, name)
      const app = await createTenantApp(change, account.id, name)
      if (app === undefined) throw new Error('the account is gone')
      return { accountId: account.id, appId: app.id, token: authToken }
    })

  beforeAll(async () => {
    const db = database().database
    const guard = createNetworkGuard(loopback)
    client = createOutboundClient(guard)
    feeds = createFeeds(db, silent)
    const context: AdminContext = {
      database: db,
      instance: memoryInstance(),
      ...createAuthenticator(db),
      isOperator: createOperatorCheck(operatorToken),
      chainIds: () => new Set([31_337]),
      access: { database: db, passwords: createPasswords(), logger: silent },
      signInLinks,
      adminUrl: undefined,
      webhooks: (actor) => createWebhooks({ database: db, masterKey, guard, actor }),
      subscriptions: (actor) => createSubscriptions({ database: db, masterKey, guard, actor }),
      testWebhook: (webhook) => testWebhook({ masterKey, client }, webhook),
      chains: services.chains,
      readiness: services.readiness,
      nodesOf: (chainId) =>
        services.chains.has(chainId)
          ? [
              {
                host: 'node',
                behind: false,
                otherChain: undefined,
                pausedUntil: undefined,
                failing: [],
              },
            ]
          : undefined,
      // No chain runs here, so no operation was included.
      rehearse: async (chainId) =>
        services.chains.has(chainId)
          ? {
              at: null,
              recorded: 0n,
              spending: [],
              budgets: [],
              funds: [],
              operations: [],
            }
          : undefined,
      overview: createOverviews(db),
      feeds,
      levelOf,
      registerTank: async (trx, chainId, { appId, entryPoint, owner }) =>
        registerTank(
          {
            database: trx,
            masterKey,
            definition: { chainId, tankFactory: tankFactoryAddress.address, pollInterval: 50 },
          },
          { appId, entryPoint, owner, kind: 'gas' },
        ),
      // No chain runs here: every tank is on it.
      stepsOf: async () => [],
      signStatement: createStatementSigner(masterKey),
      keptSince: () => new Date(0),
      tokenBooks: async (appId) =>
        (await listCollected(db, { appId })).map((book) => ({
          ...book,
          held: book.collected,
          withdrawn: 0n,
          promised: 0n,
        })),
    }
    tenants = [await makeTenant('one'), await makeTenant('two')]
    api = await startApi({
      services,
      host: '127.0.0.1',
      port: 0,
      metrics: createMetrics(),
      // The tests of a file send more wrong tokens than one address may.
      limits: { ...defaultLimits, gate: { ...defaultLimits.gate, failures: unlimited } },
      logger: silent,
      mounts: [mountAdmin(context), mountMetrics(context.isOperator)],
    })
  })
  afterAll(async () => {
    await feeds?.stop()
    await api?.close()
    client?.close()
  })

  const send = async (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: unknown,
  ): Promise<Answer> => {
    const response = await fetch(`${api.url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const type = response.headers.get('content-type')
    // A stream has no end: it was let in, and that is all that can be waited for.
    if (type === 'text/event-stream') {
      await response.body?.cancel()
      return { status: response.status, headers: response.headers, body: '' }
    }
    const text = await response.text()
    const isJson = type?.startsWith('application/json')
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    }
    if (path.startsWith('/admin/v1/'))
      expectDocumented({ method, path: path.slice('/admin/v1'.length) }, answer)
    return answer
  }

  const call = (method: string, path: string, token: string | undefined, body?: unknown) =>
    send(method, path, token === undefined ? {} : { authorization: `Bearer ${token}` }, body)

  return {
    database: () => database().database,
    masterKey,
    signInLinks,
    url: () => api.url,
    /** As when the service stops. */
    stopFeeds: () => feeds.stop(),
    /** The chains that are served, in memory. */
    memoryChains: services.chains,
    one: () => tenants[0],
    two: () => tenants[1],
    call,
    /** One request to /admin/v1 with these headers. */
    send: (
      method: string,
      path: string,
      headers: Readonly<Record<string, string>>,
      body?: unknown,
    ) => send(method, `/admin/v1${path}`, headers, body),
    /** One request to /admin/v1. */
    admin: (method: string, path: string, token: string | undefined, body?: unknown) =>
      call(method, `/admin/v1${path}`, token, body),
    /** The operator reads what is an account's. */
    lookInto: (accountId: string, path: string) =>
      send('GET', `/admin/v1${path}`, {
        authorization: `Bearer ${operatorToken}`,
        'purser-account': accountId,
      }),
  }
}
