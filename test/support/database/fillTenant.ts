import { randomBytes, randomUUID } from 'node:crypto'
import type { Hex } from 'viem'
import { exampleOperation } from '../../../src/api/methods/examples.js'
import { noMetrics } from '../../../src/base/metrics/metrics.js'
import { eventTypes } from '../../../src/base/vocabulary.js'
import type { Database } from '../../../src/db/database.js'
import { emitEvent } from '../../../src/db/events.js'
import { inTransaction } from '../../../src/db/inTransaction.js'
import { operationDocument } from '../../../src/db/storedOperation.js'
import { recordRefusedDecision } from '../../../src/paymaster/ledger/decisions.js'
import type { Tenant } from '../http/useAdmin.js'
import { storeUser } from './storeUser.js'

/** Ids by the names that paths give them, such as `keyId`. */
export type TenantObjects = Readonly<Record<string, string>>

/** One object of every kind that the administration API knows, as rows of the tenant. */
export async function fillTenant(db: Database, tenant: Tenant): Promise<TenantObjects> {
  const app_id = tenant.appId
  const secret = Buffer.from(`secret of ${app_id}`)
  const key = await db
    .insertInto('keys')
    .values({ app_id, name: 'key', hash: secret, last4: 'abcd', revoked_at: null })
    .returning('id')
    .executeTakeFirstOrThrow()
  const tank = await db
    .insertInto('tanks')
    .values({
      app_id,
      chain_id: 31_337n,
      entry_point: `0x${'e'.repeat(40)}`,
      kind: 'gas',
      address: `0x${'1'.repeat(40)}`,
      owner: `0x${'2'.repeat(40)}`,
      signer: `0x${'3'.repeat(40)}`,
      signer_key: secret,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const webhook = await db
    .insertInto('webhooks')
    .values({ app_id, url: 'https://dapp.example/', request_type: 'POST', secret })
    .returning('id')
    .executeTakeFirstOrThrow()
  const subscription = await db
    .insertInto('event_subscriptions')
    .values({ app_id, url: 'https://dapp.example/', event_types: [...eventTypes], secret })
    .returning('id')
    .executeTakeFirstOrThrow()
  const policy = await db
    .insertInto('policies')
    .values({
      account_id: tenant.accountId,
      app_id,
      name: 'policy',
      active: true,
      position: 1,
      terms: '{}',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const token = await db
    .insertInto('auth_tokens')
    .values({
      account_id: tenant.accountId,
      name: 'token',
      hash: randomBytes(32),
      last4: 'abcd',
      role: 'viewer',
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const { userId, sessionId } = await storeUser(db, { ...tenant, role: 'viewer' })
  const invitation = await db
    .insertInto('invitations')
    .values({
      email: `${randomUUID()}@example.com`,
      account_id: tenant.accountId,
      role: 'viewer',
      token_hash: randomBytes(32),
      expires_at: new Date(Date.now() + 3_600_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const refusalId = await storeRefusal(db, tenant)
  const userOpHash = await storeOperation(db, app_id, 'pooled')
  const share = await db
    .insertInto('shares')
    .values({
      account_id: tenant.accountId,
      app_id,
      chain_id: 31_337n,
      user_op_hash: userOpHash,
      token_hash: randomBytes(32),
      expires_at: new Date(Date.now() + 3_600_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await inTransaction(db, (trx) => emitEvent(trx, app_id, 'tank.low', { tankId: tank.id }))
  const statement = await db
    .insertInto('statements')
    .values({
      app_id,
      from_time: new Date(0),
      until_time: new Date(1_000),
      content: '{"lines":[]}',
      signature: secret,
      public_key: secret,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return {
    statementId: statement.id,
    accountId: tenant.accountId,
    appId: app_id,
    keyId: key.id,
    tankId: tank.id,
    webhookId: webhook.id,
    policyId: policy.id,
    chainId: '31337',
    decisionId: await storeCall(db, app_id, webhook.id),
    subscriptionId: subscription.id,
    refusalId,
    tokenId: token.id,
    userId,
    sessionId,
    invitationId: invitation.id,
    userOpHash,
    shareId: share.id,
    bundleId: '987654321987654321',
  }
}

/** An operation that was dropped, or waits; resolves to its hash. */
export async function storeOperation(
  db: Database,
  app_id: string,
  state: 'dropped' | 'pooled' = 'dropped',
): Promise<Hex> {
  const hash: Hex = `0x${randomBytes(32).toString('hex')}`
  await db
    .insertInto('operations')
    .values({
      chain_id: 31_337n,
      hash,
      entry_point: `0x${'e'.repeat(40)}`,
      app_id,
      sender: `0x${'5'.repeat(40)}`,
      // Two that wait must not have the same.
      nonce: state === 'pooled' ? BigInt(`0x${randomBytes(16).toString('hex')}`) : 7n,
      paymaster: null,
      max_fee_per_gas: 1n,
      max_priority_fee_per_gas: 1n,
      prefund: 9n,
      assured_price: 1n,
      valid_until: 0n,
      operation: operationDocument(exampleOperation),
      state,
      reason_code: state === 'dropped' ? 'EXPIRED' : null,
      reason: state === 'dropped' ? 'too late' : null,
    })
    .execute()
  return hash
}

/** A refused request; resolves to its id. */
export async function storeRefusal(db: Database, { accountId, appId }: Tenant): Promise<string> {
  const { id } = await db
    .insertInto('refusals')
    .values({
      at: new Date(),
      account_id: accountId,
      app_id: appId,
      key_id: randomUUID(),
      chain_id: 31_337n,
      method: 'eth_sendUserOperation',
      entry_point: `0x${'e'.repeat(40)}`,
      sender: `0x${'5'.repeat(40)}`,
      nonce: 7n,
      code: -32_507,
      rule: 'AA24',
      message: 'AA24 signature error',
      data: '{"rule":"AA24"}',
      request: '[{"nonce":"0x7"}]',
      request_id: randomUUID(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** A decision whose webhook said no; resolves to the decision's id. */
export async function storeCall(db: Database, app_id: string, webhook_id: string): Promise<string> {
  const id = randomUUID()
  const about = {
    id,
    app_id,
    chain_id: 31_337n,
    nonce: 0n,
    user_op_hash: null,
    sponsored: false,
    code: 'WEBHOOK_DENIED',
    message: 'no',
    max_cost: 0n,
    valid_after: 0n,
    valid_until: 0n,
  }
  const place = { entry_point: `0x${'e'.repeat(40)}`, sender: `0x${'5'.repeat(40)}` } as const
  const call = {
    webhook_id,
    outcome: 'denied',
    http_status: 200,
    reason: 'no',
    attempts: 1,
    duration_ms: 1.5,
    started_at: new Date(),
  }
  await recordRefusedDecision({ database: db, metrics: noMetrics }, { ...about, ...place }, [call])
  return id
}
