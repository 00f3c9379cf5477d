// Generated from src/db/migrations by `npm run generate:schema`: do not edit. The columns are described there.
import type { Generated } from 'kysely'
import type { Address, Hex } from 'viem'
import type { EventType } from '../base/vocabulary.js'
import type { DropCode } from './dropCode.js'

/** Rows by table: numeric and bigint come as bigint, jsonb as plain JSON, bytea as Buffer. */
export type Schema = {
  accounts: {
    id: Generated<string>
    name: string
    created_at: Generated<Date>
    revoked_at: Date | null
  }
  alerts: {
    holder: string
    since: Generated<Date>
  }
  app_abis: {
    app_id: string
    items: unknown
  }
  apps: {
    id: Generated<string>
    account_id: string
    name: string
    sponsor: unknown
    quotas: unknown
    created_at: Generated<Date>
    revoked_at: Date | null
  }
  audit_log: {
    id: Generated<bigint>
    at: Date
    actor: 'operator' | 'account' | 'command' | 'token' | 'user'
    actor_id: string | null
    ip: string | null
    request_id: string | null
    action: string
    object_id: string
    account_id: string | null
    app_id: string | null
    before: unknown
    after: unknown
    hash: Buffer
  }
  auth_tokens: {
    id: Generated<string>
    account_id: string
    name: string
    hash: Buffer
    last4: string | null
    role: 'viewer' | 'developer' | 'admin'
    is_first: Generated<boolean>
    created_at: Generated<Date>
    expires_at: Date | null
    last_used_at: Date | null
    revoked_at: Date | null
  }
  budget_counters: {
    policy_id: string
    budget: string
    subject: string
    bucket: bigint
    used: bigint
    settled: bigint
  }
  bundle_sizes: {
    chain_id: bigint
    entry_point: Address
    decided_at: Generated<Date>
    size: number
  }
  bundle_transactions: {
    chain_id: bigint
    hash: Hex
    bundle_id: bigint
    raw: Hex
    max_fee_per_gas: bigint
    max_priority_fee_per_gas: bigint
    max_cost: bigint
    noop: Generated<boolean>
    created_at: Generated<Date>
  }
  bundles: {
    id: Generated<bigint>
    chain_id: bigint
    kind: 'operations' | 'filler' | 'refill' | 'return'
    entry_point: Address | null
    executor: Address
    nonce: bigint
    operations: Generated<Hex[]>
    operation_count: Generated<number>
    state: 'signed' | 'included' | 'reverted' | 'abandoned' | 'cancelled'
    transaction_hash: Hex | null
    cost: bigint | null
    recipient: string | null
    value: Generated<bigint>
    relayed_from: bigint | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  chain_blocks: {
    chain_id: bigint
    number: bigint
    hash: Hex
  }
  charges: {
    decision_id: string
    reservation_id: bigint
    policy_id: string
    budget: string
    subject: string
    bucket: bigint
    unit: 'wei' | 'usd' | 'count'
    amount: bigint
    price: bigint | null
    settled: Generated<bigint>
  }
  codes: {
    hash: Hex
    bytes: Buffer
    used_at: Generated<Date>
  }
  credits: {
    id: Generated<bigint>
    fund_id: string
    amount: bigint
    reference: string
    created_at: Generated<Date>
  }
  decisions: {
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
    policy_id: string | null
    details: Generated<unknown>
    native_price: bigint | null
    reservation_id: bigint | null
    created_at: Generated<Date>
  }
  event_deliveries: {
    id: Generated<bigint>
    event_id: string
    subscription_id: string
    state: Generated<'pending' | 'delivered' | 'failed'>
    attempts: Generated<number>
    next_attempt_at: Generated<Date>
    outcome: string | null
    http_status: number | null
    reason: string | null
    recent_attempts: Generated<unknown>
    updated_at: Generated<Date>
  }
  event_subscriptions: {
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
  events: {
    id: Generated<string>
    app_id: string
    type: EventType
    occurred_at: Generated<Date>
    data: unknown
  }
  funds: {
    id: Generated<string>
    app_id: string
    chain_id: bigint
    mode: 'tank' | 'shared' | 'native'
    credited: Generated<bigint>
    alert_wei: Generated<bigint>
    alert_days: Generated<number>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  grants: {
    chain_id: bigint
    user_op_hash: Hex
    app_id: string
    max_fee_per_gas: bigint
    max_priority_fee_per_gas: bigint
    valid_until: bigint
    created_at: Generated<Date>
  }
  inclusions: {
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
    block_time: Date
    first_log: number
    log_index: number
    uncovered_at: Date | null
  }
  invitations: {
    id: Generated<string>
    token_hash: Buffer
    email: string
    account_id: string | null
    role: 'viewer' | 'developer' | 'admin' | null
    invited_by: string | null
    created_at: Generated<Date>
    expires_at: Date
  }
  key_usage: {
    key_id: string
    day: Date
    requests: bigint
    refused: bigint
  }
  keys: {
    id: Generated<string>
    app_id: string
    name: string
    hash: Buffer
    last4: string
    scopes: Generated<('bundler' | 'paymaster')[]>
    methods: string[] | null
    allowed_origins: string[] | null
    allowed_ips: string[] | null
    quotas: unknown
    rotated_from: string | null
    created_at: Generated<Date>
    expires_at: Date | null
    revoked_at: Date | null
    last_used_at: Date | null
  }
  leases: {
    name: string
    holder: string
    token: bigint
    expires_at: Date
  }
  live_operations: {
    chain_id: bigint
    entry_point: Address
    sender: Address
    nonce: bigint
    hash: Hex
    app_id: string
    factory: Address | null
    paymaster: Address | null
    delegates: boolean
    max_fee_per_gas: bigint
    max_priority_fee_per_gas: bigint
    assured_price: bigint
    prefund: bigint
    valid_until: bigint
    valid_until_block: bigint
    received_at: Date
    attempts: number
    state: 'pooled' | 'bundled'
  }
  master_key: {
    one: Generated<boolean>
    check_value: Buffer
    since: Generated<Date>
  }
  members: {
    account_id: string
    user_id: string
    role: 'viewer' | 'developer' | 'admin'
    created_at: Generated<Date>
  }
  operation_history: {
    id: Generated<bigint>
    chain_id: bigint
    hash: Hex
    at: Date
    kind: 'returned' | 'suspected' | 'reorged' | 'replaced' | 'readmitted' | 'dropped'
    bundle_id: bigint | null
    code: DropCode | null
    reason: string | null
  }
  operations: {
    chain_id: bigint
    hash: Hex
    entry_point: Address
    app_id: string
    key_id: string | null
    sender: Address
    nonce: bigint
    factory: Address | null
    paymaster: Address | null
    max_fee_per_gas: bigint
    max_priority_fee_per_gas: bigint
    assured_price: bigint
    prefund: bigint
    most_charged: bigint | null
    shared_by: Generated<number>
    valid_until: bigint
    valid_until_block: Generated<bigint>
    operation: unknown
    counted: Generated<Address[]>
    seen_block: Generated<bigint>
    first_validation: unknown
    received_at: Generated<Date>
    state: 'pooled' | 'bundled' | 'included' | 'dropped' | 'replaced'
    reason_code: DropCode | null
    reason: string | null
    attempts: Generated<number>
    bundle_id: bigint | null
    cancel_requested_at: Date | null
    updated_at: Generated<Date>
    ended_badly_at: Generated<Date | null>
    failed_at: Generated<Date | null>
  }
  payers: {
    chain_id: bigint
    entry_point: Address
    paymaster: Address
    locked: bigint
    block_number: bigint
    timestamp: bigint
  }
  policies: {
    id: Generated<string>
    account_id: string
    app_id: string | null
    name: string
    position: number
    active: boolean
    terms: unknown
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  pool_bounds: {
    chain_id: bigint
    scope: string
    bound: bigint | null
  }
  quota_windows: {
    subject: string
    seconds: number
    begins: bigint
    taken: bigint
    granted: bigint
  }
  refusals: {
    id: Generated<string>
    at: Date
    account_id: string
    app_id: string
    key_id: string
    chain_id: bigint
    method: string
    entry_point: Address | null
    sender: Address | null
    nonce: bigint | null
    code: number
    rule: string | null
    message: string
    data: string | null
    request: string | null
    request_id: string
  }
  reputations: {
    chain_id: bigint
    entry_point: Address
    address: Address
    ops_seen: bigint
    ops_included: bigint
    hour: Generated<bigint>
  }
  reservations: {
    id: Generated<bigint>
    app_id: string
    chain_id: bigint
    entry_point: Address
    sender: Address
    nonce: bigint
    paymaster: Address
    max_cost: bigint
    valid_until: bigint
    state: 'open' | 'included' | 'expired' | 'settled' | 'released'
    block_number: bigint | null
    user_op_hash: Hex | null
    actual_cost: Generated<bigint>
    rebate: Generated<bigint>
    wasted: bigint | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  sessions: {
    id: Generated<string>
    user_id: string
    token_hash: Buffer
    created_at: Generated<Date>
    seen_at: Generated<Date>
    expires_at: Date
    ended_at: Date | null
    ip: string | null
    agent: string | null
  }
  shares: {
    id: Generated<string>
    token_hash: Buffer
    account_id: string
    app_id: string
    chain_id: bigint
    user_op_hash: Hex
    created_at: Generated<Date>
    expires_at: Date
  }
  sign_in_attempts: {
    subject: Buffer
    failures: number
    failed_at: Date
    locked_until: Date | null
    trusted_until: Date | null
  }
  statements: {
    id: Generated<string>
    app_id: string
    from_time: Date
    until_time: Date
    content: string
    signature: Buffer
    public_key: Buffer
    created_at: Generated<Date>
  }
  surpluses: {
    chain_id: bigint
    transaction_hash: Hex
    entry_point: Address
    tank: Address
    block_number: bigint
    amount: bigint
    bundle_id: bigint | null
  }
  tanks: {
    id: Generated<string>
    app_id: string | null
    chain_id: bigint
    entry_point: Address
    kind: 'gas' | 'token'
    address: Address
    owner: Address
    signer: Address
    signer_key: Buffer
    created_at: Generated<Date>
  }
  token_payments: {
    chain_id: bigint
    user_op_hash: Hex
    app_id: string
    tank: Address
    sender: Address
    token: Address
    charged: bigint
    cost: bigint
    missed: boolean
    block_number: bigint
    booked_at: Generated<Date>
  }
  token_quotes: {
    decision_id: string
    chain_id: bigint
    token: Address
    mode: 'prefund' | 'afterwards' | 'permit'
    rate: bigint
    markup: number
    max_charge: bigint
  }
  transaction_receipts: {
    chain_id: bigint
    hash: Hex
    block_number: bigint
    block_hash: Hex
    receipt: unknown
  }
  user_identities: {
    issuer: string
    subject: string
    user_id: string
    created_at: Generated<Date>
  }
  users: {
    id: Generated<string>
    email: string
    name: string
    password_hash: string | null
    is_operator: Generated<boolean>
    created_at: Generated<Date>
    disabled_at: Date | null
  }
  webhook_calls: {
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
  webhook_circuits: {
    id: Generated<bigint>
    webhook_id: string
    at: Generated<Date>
    state: 'open' | 'closed'
  }
  webhooks: {
    id: Generated<string>
    app_id: string
    url: string
    request_type: 'GET' | 'POST'
    active: Generated<boolean>
    payload: Generated<'plain' | 'extended'>
    on_failure: Generated<'deny' | 'approve'>
    deadline_ms: Generated<number>
    secret: Buffer
    previous_secret: Buffer | null
    previous_secret_until: Date | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  witnesses: {
    chain_id: bigint
    hash: Hex
    app_id: string | null
    digest: Hex
    bytes: Buffer
    at: Generated<Date>
  }
}
