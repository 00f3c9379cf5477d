import type { ColumnType, Generated } from 'kysely'
import type { Address, Hex } from 'viem'
import type { BudgetUnit, EventType, Role } from '../base/vocabulary.js'
import type { DropCode } from './dropCode.js'

/*
 * Rows as the driver gives them: numeric(78,0) and bigint columns are parsed to bigint, jsonb to
 * plain JSON, timestamptz to Date, bytea to Buffer.
 */

type AccountRow = {
  id: Generated<string>
  name: string
  /** For processes of an earlier version; a trigger makes it the first row of `auth_tokens`. */
  auth_token_hash: Buffer | null
  created_at: Generated<Date>
  revoked_at: Date | null
}

type AuthTokenRow = {
  id: Generated<string>
  account_id: string
  name: string
  hash: Buffer
  /** null = of the first token, which is written by the row of its account. */
  last4: string | null
  role: Role
  /** The account's `authToken`, which the operator can replace. */
  is_first: Generated<boolean>
  created_at: Generated<Date>
  /** null = for ever */
  expires_at: Date | null
  last_used_at: Date | null
  revoked_at: Date | null
}

type UserRow = {
  id: Generated<string>
  /** In lower case. */
  email: string
  name: string
  /** scrypt in PHC form; null = none was chosen yet. */
  password_hash: string | null
  /** May do all that the operator's token may, and enter any account. */
  is_operator: Generated<boolean>
  created_at: Generated<Date>
  disabled_at: Date | null
}

/** The name of a user at an identity provider. */
type UserIdentityRow = {
  issuer: string
  subject: string
  user_id: string
  created_at: Generated<Date>
}

type MemberRow = {
  account_id: string
  user_id: string
  role: Role
  created_at: Generated<Date>
}

type SessionRow = {
  id: Generated<string>
  user_id: string
  token_hash: Buffer
  created_at: Generated<Date>
  /** The last request, to the minute. */
  seen_at: Generated<Date>
  expires_at: Date
  ended_at: Date | null
  ip: string | null
  /** The header User-Agent. */
  agent: string | null
}

type InvitationRow = {
  id: Generated<string>
  token_hash: Buffer
  email: string
  /** null = a user is to choose a password. */
  account_id: string | null
  role: Role | null
  invited_by: string | null
  created_at: Generated<Date>
  expires_at: Date
}

type SignInAttemptRow = {
  /** SHA-256 of an e-mail address, or of one and the network of the caller. */
  subject: Buffer
  failures: number
  failed_at: Date
  locked_until: Date | null
  /** The user signed in from this network. */
  trusted_until: Date | null
}

/** Who pays, as wallets show it: a name, and the URI of an image (ERC-7677). */
export type AppSponsor = { readonly name: string; readonly icon?: string | undefined }

type AppRow = {
  id: Generated<string>
  account_id: string
  name: string
  /** Written as JSON text; null = the app names nobody. */
  sponsor: ColumnType<AppSponsor | null, string | undefined, string | null>
  /** Written as JSON text; null = as many requests as there are. */
  quotas: ColumnType<Quotas | null, string | null | undefined, string | null>
  created_at: Generated<Date>
  revoked_at: Date | null
}

/** Requests that a key or an app may make in a second, a minute, a day (UTC); absent = any number. */
export type Quotas = {
  readonly perSecond?: number | undefined
  readonly perMinute?: number | undefined
  readonly perDay?: number | undefined
}

export type KeyScope = 'bundler' | 'paymaster'

type KeyRow = {
  id: Generated<string>
  app_id: string
  name: string
  hash: Buffer
  last4: string
  created_at: Generated<Date>
  revoked_at: Date | null
  scopes: Generated<KeyScope[]>
  /** null = every method of the scopes. */
  methods: string[] | null
  /** null = from anywhere. */
  allowed_origins: string[] | null
  /** Addresses and CIDR ranges; null = from anywhere. */
  allowed_ips: string[] | null
  expires_at: Date | null
  rotated_from: string | null
  /** Written as JSON text; null = as many requests as there are. */
  quotas: ColumnType<Quotas | null, string | null | undefined, string | null>
  /** To the minute; null = never, or before version 0135. */
  last_used_at: Date | null
}

/** The use of a tank: `gas` pays for operations as a gift, `token` takes tokens for it. */
export type TankKind = 'gas' | 'token'

/** The version of the contract that a tank runs; it decides what the tank's signer signs. */
export type TankContract = 1 | 2

type TankRow = {
  id: Generated<string>
  /** null = the operator's, shared by apps with credit */
  app_id: string | null
  chain_id: bigint
  entry_point: Address
  kind: TankKind
  contract: Generated<TankContract>
  address: Address
  owner: Address
  signer: Address
  signer_key: Buffer
  created_at: Generated<Date>
}

/** The means by which an app pays on a chain. */
export type FundMode = 'tank' | 'shared' | 'native'

type FundRow = {
  id: Generated<string>
  app_id: string
  chain_id: bigint
  mode: FundMode
  /** wei, all credits that were ever added */
  credited: Generated<bigint>
  /** Bounds below which the alarm goes off: wei available, days that these last. 0 = never. */
  alarm_wei: Generated<bigint>
  alarm_days: Generated<number>
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

/** Wei added to a fund, or taken from it when negative. */
type CreditRow = {
  id: Generated<bigint>
  fund_id: string
  amount: bigint
  reference: string
  created_at: Generated<Date>
}

/** An alarm that is on: a tank, or the credit of a fund, runs low. */
type AlarmRow = {
  /** Id of the tank or fund. */
  holder: string
  since: Generated<Date>
}

/** An operation with zero fees and no paymaster that we pay for. */
type GrantRow = {
  chain_id: bigint
  user_op_hash: Hex
  app_id: string
  /** wei per gas, what a bundle with it may cost at most */
  max_fee_per_gas: bigint
  max_priority_fee_per_gas: bigint
  valid_until: bigint
  created_at: Generated<Date>
}

type WebhookRow = {
  id: Generated<string>
  app_id: string
  url: string
  request_type: 'GET' | 'POST'
  active: Generated<boolean>
  secret: Buffer
  created_at: Generated<Date>
  updated_at: Generated<Date>
  payload: Generated<'plain' | 'extended'>
  on_failure: Generated<'deny' | 'approve'>
  deadline_ms: Generated<number>
  /** Signs too until `previous_secret_until`, so that receivers can change over. */
  previous_secret: Buffer | null
  previous_secret_until: Date | null
}

type DecisionRow = {
  id: string
  app_id: string
  chain_id: bigint
  entry_point: Address
  sender: Address
  nonce: bigint
  user_op_hash: Hex | null
  sponsored: boolean
  code: string
  message: string
  max_cost: bigint
  valid_after: bigint
  valid_until: bigint
  /** The policy that sponsored or refused; null when none did. */
  policy_id: string | null
  /** The numbers behind the decision, as JSON that people read. */
  details: Generated<unknown>
  reservation_id: bigint | null
  created_at: Generated<Date>
}

type PolicyRow = {
  id: Generated<string>
  account_id: string
  /** null = binds all apps of the account. */
  app_id: string | null
  name: string
  position: number
  active: boolean
  /** JSON of the policy room's schema. */
  terms: unknown
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

/**
 * `open`: can still be included; `included`, `expired`: ended by `block_number`, which a reorg can
 * undo; `settled`, `released`: ended for good.
 */
export type ReservationState = 'open' | 'included' | 'expired' | 'settled' | 'released'

/** An amount reserved for all sponsorships of one sender's nonce by one app, of which one can be included. */
type ReservationRow = {
  id: Generated<bigint>
  app_id: string
  chain_id: bigint
  entry_point: Address
  sender: Address
  nonce: bigint
  /** The zero address when no paymaster pays. */
  paymaster: Address
  /** wei, the largest of its sponsorships */
  max_cost: bigint
  /** Unix seconds, the latest of its sponsorships */
  valid_until: bigint
  state: ReservationState
  /** Block in which it ended; null while open. */
  block_number: bigint | null
  /** Hash of the operation that took the nonce. */
  user_op_hash: Hex | null
  /** wei; 0 when an operation took the nonce that none of our sponsorships is of. */
  actual_cost: Generated<bigint>
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

/** The amount that the live reservations of a payer lock of its deposit, at one block. */
type PayerRow = {
  chain_id: bigint
  entry_point: Address
  paymaster: Address
  /** wei, of the reservations that could still be charged to the deposit as it was at that block */
  locked: bigint
  block_number: bigint
  /** Unix seconds, of the block */
  timestamp: bigint
}

/** The amount that one sponsorship takes from one budget, in the budget's unit (usd: millionths). */
type ChargeRow = {
  decision_id: string
  reservation_id: bigint
  policy_id: string
  budget: string
  subject: string
  bucket: bigint
  unit: BudgetUnit
  amount: bigint
  /** Millionths of a USD per 10^18 wei; null unless the unit is usd. */
  price: bigint | null
  /** The actual cost of an included sponsorship, in the budget's unit. */
  settled: Generated<bigint>
}

/** The sums of `charges`, with which budgets are compared. */
type BudgetCounterRow = {
  policy_id: string
  budget: string
  subject: string
  /** Unix seconds at which the bucket begins */
  bucket: bigint
  /** Sum over reservations: the largest charge of each until it is final, then its actual cost. */
  used: bigint
  settled: bigint
}

type WebhookCallRow = {
  id: Generated<bigint>
  decision_id: string
  webhook_id: string
  app_id: string
  outcome: string
  http_status: number | null
  reason: string | null
  attempts: number
  duration_ms: number
  started_at: Date
}

export type BundleState = 'signed' | 'included' | 'reverted' | 'abandoned' | 'cancelled'

export type BundleKind = 'operations' | 'filler' | 'refill'

/** The outbox: every transaction that we sign as executor or treasury, before it is sent. */
type BundleRow = {
  id: Generated<bigint>
  chain_id: bigint
  kind: BundleKind
  entry_point: Address | null
  executor: Address
  nonce: bigint
  /** The number of operations that were signed with it. */
  operation_count: number
  state: BundleState
  transaction_hash: Hex | null
  /** wei that the mined transaction cost its sender. */
  cost: Generated<bigint | null>
  /** The block at which it was given to a relay alone; null = sent publicly. */
  relayed_from: Generated<bigint | null>
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

type BundleTransactionRow = {
  chain_id: bigint
  hash: Hex
  bundle_id: bigint
  raw: Hex
  max_fee_per_gas: bigint
  max_priority_fee_per_gas: bigint
  /** wei: gas limit times fee, and value. */
  max_cost: bigint
  /** Uses the nonce up and does nothing. */
  noop: boolean
  created_at: Generated<Date>
}

export type OperationState = 'pooled' | 'bundled' | 'included' | 'dropped' | 'replaced'

type OperationRow = {
  chain_id: bigint
  hash: Hex
  entry_point: Address
  app_id: string
  sender: Address
  nonce: bigint
  paymaster: Address | null
  max_fee_per_gas: bigint
  max_priority_fee_per_gas: bigint
  /** wei per gas: the highest price that is sure to be paid; null in rows of versions before 0080. */
  assured_price: bigint | null
  /** wei: EntryPoint.requiredPrefund, what the payer must cover while the operation is pending. */
  prefund: bigint
  /** Unix seconds; 0 = no end. */
  valid_until: bigint
  /** The last block in which it is valid; 0 = no end. */
  valid_until_block: Generated<bigint>
  operation: unknown
  state: OperationState
  reason_code: DropCode | null
  reason: string | null
  /** The number of failed bundles with this operation; such an operation is bundled alone. */
  attempts: Generated<number>
  bundle_id: bigint | null
  /** null where the sender existed before. */
  factory: Address | null
  /** Entities whose opsSeen counts this operation. */
  counted: Generated<Address[]>
  /** Block of the head when it was taken into the pool. */
  seen_block: Generated<bigint>
  /** Gas that the EntryPoint may charge; null where it does not matter or was never computed. */
  most_charged: bigint | null
  /** The number of operations that its preVerificationGas shares a bundle with, itself included. */
  shared_by: Generated<number>
  /** A FirstValidation as JSON; null where only the result was known. */
  first_validation: unknown
  /** Time at which its cancellation was asked for. */
  cancel_requested_at: Date | null
  /** The key that sent it; null where none did, or before version 0135. */
  key_id: Generated<string | null>
  received_at: Generated<Date>
  updated_at: Generated<Date>
}

type InclusionRow = {
  chain_id: bigint
  user_op_hash: Hex
  entry_point: Address
  sender: Address
  nonce: bigint
  paymaster: Address
  success: boolean
  actual_gas_cost: bigint
  actual_gas_used: bigint
  reason: Hex
  transaction_hash: Hex
  block_number: bigint
  block_hash: Hex
  log_index: number
  logs: unknown
  /** Null in rows of versions before 0135. */
  block_time: Generated<Date | null>
}

type TransactionReceiptRow = {
  chain_id: bigint
  hash: Hex
  block_number: bigint
  block_hash: Hex
  receipt: unknown
}

/** Counters of one entity at one EntryPoint, decayed up to `hour` (hours since 1970). */
type ReputationRow = {
  chain_id: bigint
  entry_point: Address
  address: Address
  ops_seen: bigint
  ops_included: bigint
  hour: Generated<bigint>
}

/** The last blocks we followed, so that a restart knows where it stood and sees a reorg. */
type ChainBlockRow = {
  chain_id: bigint
  number: bigint
  hash: Hex
}

/** The author of a change: the operator, an account's first token, a named token, a user, or a command. */
export type ActorKind = 'operator' | 'account' | 'token' | 'user' | 'command'

type AuditRow = {
  id: Generated<bigint>
  at: Date
  actor: ActorKind
  /** The start of the token's hash, or the system user; never the token itself. */
  actor_id: string | null
  ip: string | null
  request_id: string | null
  action: string
  object_id: string
  account_id: string | null
  app_id: string | null
  before: unknown
  after: unknown
  /** SHA-256 over the hash of the entry before and this entry. */
  hash: Buffer
}

type EventSubscriptionRow = {
  id: Generated<string>
  app_id: string
  url: string
  event_types: string[]
  active: Generated<boolean>
  secret: Buffer
  previous_secret: Buffer | null
  previous_secret_until: Date | null
  failing_since: Date | null
  disabled_reason: string | null
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

type EventRow = {
  id: Generated<string>
  app_id: string
  type: EventType
  occurred_at: Generated<Date>
  data: unknown
}

type EventDeliveryRow = {
  id: Generated<bigint>
  event_id: string
  subscription_id: string
  state: Generated<'pending' | 'delivered' | 'failed'>
  attempts: Generated<number>
  next_attempt_at: Generated<Date>
  outcome: string | null
  http_status: number | null
  reason: string | null
  updated_at: Generated<Date>
  /** The oldest first. */
  recent_attempts: Generated<readonly RecentAttempt[]>
}

/** One attempt to deliver an event, as it is stored. */
export type RecentAttempt = {
  /** ISO 8601, when it ended. */
  readonly at: string
  /** Its number since the delivery was queued, the first is 1. */
  readonly attempt: number
  readonly milliseconds: number
  readonly outcome: string
  readonly httpStatus: number | null
  readonly reason: string | null
}

/** A size of bundle that estimates reckoned with from `decided_at` on. */
type BundleSizeRow = {
  chain_id: bigint
  entry_point: Address
  decided_at: Generated<Date>
  size: number
}

/** The right of one process to do a thing alone; `token` grows with each holder. */
type LeaseRow = {
  name: string
  holder: string
  token: bigint
  expires_at: Date
}

/** An upper bound of a count of live operations, or of the wei they may cost their paymaster. */
type PoolBoundRow = {
  chain_id: bigint
  scope: string
  /** null = unknown. */
  bound: bigint | null
}

type DashboardRow = {
  app_id: string
  /** null = the app was not made for one chain. */
  chain_id: bigint | null
  /** The policy that is made of its rules; null = not made yet, or deleted. */
  policy_id: string | null
}

type DashboardRuleRow = {
  id: Generated<string>
  app_id: string
  kind: 'contract' | 'limit' | 'deployment' | 'webhook'
  name: string
  active: Generated<boolean>
  /** JSON of the policy room's dashboard rules. */
  data: unknown
  created_at: Generated<Date>
}

/** The quote of a decision to take tokens. */
type TokenQuoteRow = {
  decision_id: string
  chain_id: bigint
  token: Address
  mode: 'prefund' | 'afterwards' | 'permit'
  /** Smallest token units per 10^18 wei. */
  rate: bigint
  /** Millionths of the cost. */
  markup: number
  /** Smallest token units that the tank may take. */
  max_charge: bigint
}

/** The payment that a tank took for an included operation, by the chain. */
type TokenPaymentRow = {
  chain_id: bigint
  user_op_hash: Hex
  app_id: string
  tank: Address
  sender: Address
  token: Address
  /** Smallest token units; 0 when the payment was missed. */
  charged: bigint
  /** wei that the tank counted for it */
  cost: bigint
  /** The tank paid and got nothing. */
  missed: boolean
  block_number: bigint
  booked_at: Generated<Date>
}

/** Something that befell an operation and that its row has forgotten. */
type OperationHistoryRow = {
  id: Generated<bigint>
  chain_id: bigint
  hash: Hex
  at: Date
  kind: 'returned' | 'suspected' | 'reorged' | 'replaced' | 'readmitted' | 'dropped'
  /** The bundle that it left. */
  bundle_id: bigint | null
  code: DropCode | null
  reason: string | null
}

/** A request about an operation that was answered with an error. */
type RefusalRow = {
  id: Generated<string>
  at: Date
  account_id: string
  app_id: string
  key_id: string
  chain_id: bigint
  method: string
  /** Null where the request named none that can be read; so are sender and nonce. */
  entry_point: Address | null
  sender: Address | null
  nonce: bigint | null
  /** The JSON-RPC code. */
  code: number
  rule: string | null
  message: string
  /** `error.data` of the answer, as JSON. */
  data: string | null
  /** The parameters as JSON, unless they are too long to be kept. */
  request: string | null
  request_id: string
}

/** A change of a webhook's circuit, as one process saw it. */
type WebhookCircuitRow = {
  id: Generated<bigint>
  webhook_id: string
  at: Generated<Date>
  state: 'open' | 'closed'
}

/** The one row by which the master key of this database is recognised. */
type MasterKeyRow = {
  one: Generated<boolean>
  /** A known text, encrypted with the key. */
  check_value: Buffer
  since: Generated<Date>
}

type QuotaWindowRow = {
  /** A key or an app. */
  subject: string
  seconds: number
  /** Unix seconds of the database's clock. */
  begins: bigint
  /** Requests granted in the window to all processes, and with the last question. */
  taken: bigint
  granted: bigint
}

type KeyUsageRow = {
  key_id: string
  day: Date
  requests: bigint
  refused: bigint
}

export type Schema = {
  quota_windows: QuotaWindowRow
  key_usage: KeyUsageRow
  master_key: MasterKeyRow
  accounts: AccountRow
  auth_tokens: AuthTokenRow
  users: UserRow
  user_identities: UserIdentityRow
  members: MemberRow
  sessions: SessionRow
  invitations: InvitationRow
  sign_in_attempts: SignInAttemptRow
  apps: AppRow
  keys: KeyRow
  tanks: TankRow
  funds: FundRow
  credits: CreditRow
  alarms: AlarmRow
  grants: GrantRow
  webhooks: WebhookRow
  decisions: DecisionRow
  policies: PolicyRow
  dashboards: DashboardRow
  dashboard_rules: DashboardRuleRow
  reservations: ReservationRow
  payers: PayerRow
  charges: ChargeRow
  budget_counters: BudgetCounterRow
  webhook_calls: WebhookCallRow
  bundles: BundleRow
  bundle_transactions: BundleTransactionRow
  operations: OperationRow
  inclusions: InclusionRow
  transaction_receipts: TransactionReceiptRow
  chain_blocks: ChainBlockRow
  audit_log: AuditRow
  event_subscriptions: EventSubscriptionRow
  events: EventRow
  event_deliveries: EventDeliveryRow
  bundle_sizes: BundleSizeRow
  leases: LeaseRow
  pool_bounds: PoolBoundRow
  reputations: ReputationRow
  token_quotes: TokenQuoteRow
  token_payments: TokenPaymentRow
  refusals: RefusalRow
  operation_history: OperationHistoryRow
  webhook_circuits: WebhookCircuitRow
}
