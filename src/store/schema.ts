import type { Generated } from 'kysely'
import type { Address, Hex } from 'viem'

/*
 * Rows as the driver gives them: numeric(78,0) and bigint columns are parsed to bigint, jsonb to
 * plain JSON, timestamptz to Date, bytea to Buffer.
 */

type AccountRow = {
  id: Generated<string>
  name: string
  auth_token_hash: Buffer
  created_at: Generated<Date>
  revoked_at: Date | null
}

type AppRow = {
  id: Generated<string>
  account_id: string
  name: string
  created_at: Generated<Date>
  revoked_at: Date | null
}

type KeyRow = {
  id: Generated<string>
  app_id: string
  name: string
  hash: Buffer
  last4: string
  created_at: Generated<Date>
  revoked_at: Date | null
}

type TankRow = {
  id: Generated<string>
  app_id: string
  chain_id: bigint
  entry_point: Address
  address: Address
  owner: Address
  signer: Address
  signer_key: Buffer
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
  created_at: Generated<Date>
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

export type BundleState = 'signed' | 'included' | 'reverted' | 'abandoned'

type BundleRow = {
  id: Generated<bigint>
  chain_id: bigint
  entry_point: Address
  executor: Address
  nonce: bigint
  state: BundleState
  transaction_hash: Hex | null
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
  /** wei: EntryPoint.requiredPrefund, what the payer must cover while the operation is pending. */
  prefund: bigint
  /** Unix seconds; 0 = no end. */
  valid_until: bigint
  operation: unknown
  state: OperationState
  reason_code: string | null
  reason: string | null
  /** How often a bundle with this operation failed; such an operation runs alone. */
  attempts: Generated<number>
  bundle_id: bigint | null
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
}

type TransactionReceiptRow = {
  chain_id: bigint
  hash: Hex
  block_number: bigint
  block_hash: Hex
  receipt: unknown
}

/** The last blocks we followed, so that a restart knows where it stood and sees a reorg. */
type ChainBlockRow = {
  chain_id: bigint
  number: bigint
  hash: Hex
}

export type Schema = {
  accounts: AccountRow
  apps: AppRow
  keys: KeyRow
  tanks: TankRow
  webhooks: WebhookRow
  decisions: DecisionRow
  webhook_calls: WebhookCallRow
  bundles: BundleRow
  bundle_transactions: BundleTransactionRow
  operations: OperationRow
  inclusions: InclusionRow
  transaction_receipts: TransactionReceiptRow
  chain_blocks: ChainBlockRow
}
