import { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { createPolicies, type PolicyView } from '../../../policy/managePolicies.js'
import { termsSchema } from '../../../policy/policySchema.js'
import { audited } from '../../../store/tenants/audit.js'
import { done, id, listOf, name, time } from '../../adminSchemas.js'
import { type Route, route } from '../route.js'

const params = z.object({ policyId: id })

const policy = z.object({
  policyId: id,
  /** null = binds all apps of the account */
  appId: id.nullable(),
  name: z.string(),
  active: z.boolean(),
  position: z.int(),
  /** As they were written. */
  terms: z.record(z.string(), z.unknown()),
  createdAt: time,
  updatedAt: time,
})

const settings = z.strictObject({
  name,
  active: z.boolean(),
  /** Smaller ones are asked first. */
  position: z.int().min(0).max(1_000_000),
  terms: termsSchema,
})

/** Terms are stored as they were written, so what the schema understood is not what goes on. */
function asWritten(body: object, raw: unknown): object {
  return {
    ...defined(body),
    ...(typeof raw === 'object' && raw !== null && 'terms' in raw && { terms: raw.terms }),
  }
}

function entryOf(accountId: string, { policyId, appId }: PolicyView) {
  return {
    objectId: policyId,
    accountId,
    appId,
  }
}

/** Rules and budgets, of the account or of one app. */
export const policyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/policies',
    summary: 'The policies of the account in the order in which they are asked',
    who: 'account',
    role: 'viewer',
    query: z.strictObject({ appId: id.optional() }),
    answer: listOf(policy),
    run: async ({ context, accountId, query: { appId } }) => ({
      items: await createPolicies(context.database).list(accountId, appId),
    }),
  }),
  route({
    method: 'POST',
    path: '/policies',
    summary: 'Make a policy, of an app or (appId null) of the whole account',
    who: 'account',
    role: 'admin',
    status: 201,
    body: settings.partial().extend({ appId: id.nullable(), name }),
    answer: policy,
    run: ({ context, caller, accountId, body, raw }) =>
      audited(context.database, caller.actor, async ({ trx, record }) => {
        const after = await createPolicies(trx).create(accountId, asWritten(body, raw))
        await record({ action: 'policy.create', ...entryOf(accountId, after), after })
        return after
      }),
  }),
  route({
    method: 'GET',
    path: '/policies/{policyId}',
    summary: 'One policy',
    who: 'account',
    role: 'viewer',
    params,
    answer: policy,
    run: ({ context, accountId, params: { policyId } }) =>
      createPolicies(context.database).get(accountId, policyId),
  }),
  route({
    method: 'PATCH',
    path: '/policies/{policyId}',
    summary: 'Change a policy; terms are replaced whole, counters of kept budgets stay',
    who: 'account',
    role: 'admin',
    params,
    body: settings.partial(),
    answer: policy,
    run: ({ context, caller, accountId, params: { policyId }, body, raw }) =>
      audited(context.database, caller.actor, async ({ trx, record }) => {
        const policies = createPolicies(trx)
        const before = await policies.get(accountId, policyId)
        const after = await policies.update(accountId, policyId, asWritten(body, raw))
        await record({ action: 'policy.update', ...entryOf(accountId, after), before, after })
        return after
      }),
  }),
  route({
    method: 'DELETE',
    path: '/policies/{policyId}',
    summary: 'Delete a policy with its counters',
    who: 'account',
    role: 'admin',
    params,
    answer: done,
    run: ({ context, caller, accountId, params: { policyId } }) =>
      audited(context.database, caller.actor, async ({ trx, record }) => {
        const policies = createPolicies(trx)
        const before = await policies.get(accountId, policyId)
        await policies.remove(accountId, policyId)
        await record({ action: 'policy.delete', ...entryOf(accountId, before), before })
        return { done: true }
      }),
  }),
]
