import type { Address } from 'viem'
import type { NodeState } from '../chain/nodeClient.js'
import type { Instance } from '../config/instance.js'
import type { Database } from '../db/database.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { StoredTank } from '../paymaster/ledger/tanks.js'
import type { TankLevel } from '../paymaster/tankLevel.js'
import type { TankStep } from '../paymaster/tankSteps.js'
import type { TokenBook } from '../paymaster/tokenBooks.js'
import type { Feeds } from '../records/createFeeds.js'
import type { Overviews } from '../records/overview.js'
import type { Rehearsal, RehearsalQuestion } from '../records/rehearsalReport.js'
import type { Actor } from '../tenants/audit.js'
import type { SignInLinks } from '../tenants/people/createSignInLinks.js'
import type { AccessContext } from '../tenants/people/signIn.js'
import { routesOn } from '../tenants/route.js'
import type { StoredWebhook, Webhooks } from '../webhooks/manage.js'
import type { Subscriptions } from '../webhooks/subscriptions.js'
import type { TestedCall } from '../webhooks/testWebhook.js'
import type { Services } from './services.js'

export type NewAppTank = {
  readonly appId: string
  readonly entryPoint: EntryPoint
  /** The address that may withdraw. */
  readonly owner: Address
}

/** The parts of the service that the administration API works on. */
export type AdminContext = Pick<
  Services,
  'authenticateToken' | 'isOperator' | 'chains' | 'readiness'
> & {
  readonly database: Database
  readonly instance: Instance
  /** The chains of the configuration, served now or not. */
  chainIds(): ReadonlySet<number>
  /** The parts by which users sign in. */
  readonly access: AccessContext
  readonly signInLinks: SignInLinks
  /** The https address under which browsers reach the administration; absent = by localhost only. */
  readonly adminUrl: string | undefined
  webhooks(actor: Actor): Webhooks
  subscriptions(actor: Actor): Subscriptions
  /** Calls the webhook as for a sponsorship, with data that says that it is a test. */
  testWebhook(webhook: StoredWebhook): Promise<TestedCall>
  /** The money of a tank at a recent head, remembered; undefined = its chain is not served. */
  levelOf(tank: StoredTank): Promise<TankLevel | undefined>
  /** Registers a tank of an app that gives gas, or gives the one that is there; undefined = its chain is not served. */
  registerTank(trx: Database, chainId: number, tank: NewAppTank): Promise<StoredTank | undefined>
  /**
   * The transactions that a tank is missing on the chain, remembered; undefined = its chain is not served. Throws
   * TankError.
   */
  stepsOf(tank: StoredTank): Promise<readonly TankStep[] | undefined>
  /** undefined = the chain is not served. */
  nodesOf(chainId: number): readonly NodeState[] | undefined
  /** undefined = the chain is not served. Throws RateLimitError. */
  rehearse(chainId: number, question: RehearsalQuestion): Promise<Rehearsal | undefined>
  readonly overview: Overviews
  readonly feeds: Feeds
  /** See `createStatementSigner`. */
  signStatement(content: string): { readonly signature: Buffer; readonly publicKey: Buffer }
  /** The time since when no record of a sponsorship was deleted. */
  keptSince(): Date
  /** The amounts that an app's operations paid in tokens on the chains that are served. */
  tokenBooks(appId: string): Promise<readonly TokenBook[]>
}

/** Declares a route that works on any part of the service. */
export const route = routesOn<AdminContext>()
