import type { AdminRoutes } from '../../../src/api/contracts/adminRoutes.generated.js'
import type { AnswerOf } from './contracts.js'

type ItemOf<Page extends { readonly items: readonly unknown[] }> = Page['items'][number]

/** A page of a list, newest first. */
export type Page<Item> = { readonly items: readonly Item[]; readonly next?: string | undefined }

export type SessionAnswer = AnswerOf<'GET /session'>
export type Credentials = AnswerOf<'POST /session/link'>['credentials']
export type Hit = ItemOf<AnswerOf<'GET /search'>>
export type App = AnswerOf<'GET /apps/{appId}'>
export type ListedApp = ItemOf<AnswerOf<'GET /apps'>>
export type Key = ItemOf<AnswerOf<'GET /apps/{appId}/keys'>>
/** A key as it is answered when it is made. */
export type ShownKey = AnswerOf<'POST /apps/{appId}/keys'>
export type KeyUsage = AnswerOf<'GET /apps/{appId}/keys/{keyId}/usage'>
export type Chain = ItemOf<AnswerOf<'GET /chains'>>
export type Operation = ItemOf<AnswerOf<'GET /operations'>>
export type OperationDetail = AnswerOf<'GET /operations/{chainId}/{userOpHash}'>
export type Advice = AnswerOf<'GET /operations/{chainId}/{userOpHash}/advice'>
export type Waterfall = AnswerOf<'GET /operations/{chainId}/{userOpHash}/waterfall'>
export type Replayed = AnswerOf<'GET /operations/{chainId}/{userOpHash}/replay'>
export type Statement = ItemOf<AnswerOf<'GET /statements'>>
export type SignedStatement = AnswerOf<'GET /statements/{statementId}'>
export type Share = ItemOf<AnswerOf<'GET /shares'>>
export type Call = NonNullable<OperationDetail['calls']>[number]
export type Simulation = AnswerOf<'POST /apps/{appId}/simulate'>
export type TimelineEntry = OperationDetail['timeline'][number]
export type Refusal = ItemOf<AnswerOf<'GET /refusals'>>
export type RefusalDetail = AnswerOf<'GET /refusals/{refusalId}'>
export type Decision = ItemOf<AnswerOf<'GET /decisions'>>
export type DecisionDetail = AnswerOf<'GET /decisions/{decisionId}'>
export type OverviewAnswer = AnswerOf<'GET /overview'>
export type Need = ItemOf<AnswerOf<'GET /attention'>>
export type SpendAnswer = AnswerOf<'GET /spend'>
export type Spend = ItemOf<SpendAnswer>
export type Tank = ItemOf<AnswerOf<'GET /tanks'>>
export type TankStep = ItemOf<AnswerOf<'GET /apps/{appId}/tanks/{tankId}/deployment'>>
export type Token = ItemOf<AnswerOf<'GET /tokens'>>
export type Fund = ItemOf<AnswerOf<'GET /apps/{appId}/funds'>>
export type Executor = ItemOf<AnswerOf<'GET /chains/{chainId}/executors'>>
export type Policy = AnswerOf<'GET /policies/{policyId}'>
/** The terms of a policy as they are written. */
export type Terms = NonNullable<
  NonNullable<AdminRoutes['PATCH /policies/{policyId}']['request']['body']>['terms']
>
export type PolicyCheck = AnswerOf<'POST /policies/check'>
export type PolicyTrial = AnswerOf<'POST /apps/{appId}/policies/try'>
export type PolicyBudget = ItemOf<AnswerOf<'GET /policies/{policyId}/budgets'>>
export type Webhook = ItemOf<AnswerOf<'GET /apps/{appId}/webhooks'>>
export type WebhookCall = ItemOf<AnswerOf<'GET /apps/{appId}/webhooks/{webhookId}/calls'>>
export type WebhookTest = AnswerOf<'POST /apps/{appId}/webhooks/{webhookId}/test'>
export type WebhookCircuit = AnswerOf<'GET /apps/{appId}/webhooks/{webhookId}/circuit'>
export type Subscription = ItemOf<AnswerOf<'GET /apps/{appId}/subscriptions'>>
export type Delivery = ItemOf<
  AnswerOf<'GET /apps/{appId}/subscriptions/{subscriptionId}/deliveries'>
>
export type Explanation = AnswerOf<'GET /explain'>
export type Account = ItemOf<AnswerOf<'GET /accounts'>>
export type Member = ItemOf<AnswerOf<'GET /members'>>
export type Invitation = ItemOf<AnswerOf<'GET /invitations'>>
export type AuthToken = ItemOf<AnswerOf<'GET /auth-tokens'>>
export type Session = ItemOf<AnswerOf<'GET /sessions'>>
export type User = ItemOf<AnswerOf<'GET /users'>>
export type InstanceSettings = AnswerOf<'GET /settings'>
export type StoredTable = ItemOf<AnswerOf<'GET /storage'>>
export type AuditEntry = ItemOf<AnswerOf<'GET /audit'>>
export type PoolSummary = AnswerOf<'GET /chains/{chainId}/pool'>
export type Bundle = ItemOf<AnswerOf<'GET /chains/{chainId}/bundles'>>
export type BundleDetail = AnswerOf<'GET /chains/{chainId}/bundles/{bundleId}'>
export type Reputation = ItemOf<AnswerOf<'GET /chains/{chainId}/reputation'>>
export type Rehearsal = AnswerOf<'GET /chains/{chainId}/rehearsal'>
export type Node = ItemOf<AnswerOf<'GET /chains/{chainId}/nodes'>>
