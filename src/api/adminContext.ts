import type { Address } from 'viem'
import type { AccessContext } from '../access/checkPassword.js'
import type { NodeState } from '../chain/nodeClient.js'
import type { TokenBook } from '../paymaster/tokenBooks.js'
import type { Overviews } from '../records/createOverviews.js'
import type { Database } from '../store/database.js'
import type { Actor } from '../store/tenants/audit.js'
import type { TokenOwner } from '../store/tenants/authTokens.js'
import type { StoredWebhook } from '../store/tenants/webhooks.js'
import type { AnsweredCall } from '../webhook/callWebhook.js'
import type { Webhooks } from '../webhook/manage.js'
import type { Subscriptions } from '../webhook/subscriptions.js'
import type { ChainServices, Readiness, ReadinessQuestion } from './services.js'

/** The parts of the service that the administration API works on. */
export type AdminContext = {
  readonly database: Database
  /** The account and role of a token; undefined = unknown, revoked or past its end. */
  authenticateToken(token: string): Promise<TokenOwner | undefined>
  isOperator(token: string): boolean
  /** The chains of the configuration, served now or not. */
  readonly chainIds: ReadonlySet<number>
  /** The parts by which users sign in. */
  readonly access: AccessContext
  /** The https address under which browsers reach the administration; absent = by localhost only. */
  readonly adminUrl: string | undefined
  webhooks(actor: Actor): Webhooks
  subscriptions(actor: Actor): Subscriptions
  /** Calls the webhook as for a sponsorship, with data that says that it is a test. */
  testWebhook(webhook: StoredWebhook): Promise<AnsweredCall>
  /** wei in the EntryPoint; undefined = the chain is not served. */
  depositOf(chainId: number, entryPoint: Address, tank: Address): Promise<bigint | undefined>
  /** The chains that are served now, by id. */
  readonly chains: ReadonlyMap<number, ChainServices>
  readiness(asked: ReadinessQuestion): Promise<Readiness>
  /** undefined = the chain is not served. */
  nodesOf(chainId: number): readonly NodeState[] | undefined
  readonly overview: Overviews
  /** The amounts that an app's operations paid in tokens on the chains that are served. */
  tokenBooks(appId: string): Promise<readonly TokenBook[]>
}
