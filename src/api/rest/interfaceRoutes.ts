import { z } from 'zod'
import type { Role } from '../../base/vocabulary.js'

/** One operation of the webhook or dashboard API, as its document describes it. */
export type InterfaceRoute = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/api/v2/public/sdk`. */
  readonly path: string
  readonly summary: string
  /** The role that the token needs. */
  readonly role: Role
  /** Whether the key of an app is needed beside the token of its account. */
  readonly needsKey: boolean
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  readonly message: string
  readonly data?: z.ZodType
}

/** Kept as given: no blanks, no control characters, no half surrogates; whatever `URL` cannot read is refused too. */
const url = z
  .string()
  .max(2_048)
  .regex(/^[hH][tT][tT][pP][sS]?:\/\/[^\s\p{Cc}\p{Cs}]+$/u)
const name = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,100}$/u)
  .meta({ description: 'Text of 1 to 100 characters' })
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
const id = z.uuid()

const webhook = z.strictObject({
  webhookId: id,
  webhookUrl: url,
  requestType: z.enum(['GET', 'POST']),
})

const cycle = z.looseObject({ value: z.int().min(1).max(744), unit: z.enum(['hour', 'day']) })
const limit = {
  type: z.enum(['PAYMASTER', 'SMART_ACCOUNT']),
  cycleDuration: cycle,
  threshold: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .meta({ description: 'Whole operations, or an amount of the native coin' }),
  thresholdType: z.enum(['COUNT', 'NATIVE_ASSET']),
}
const limitData = z.strictObject({
  ...limit,
  cycleDuration: z.strictObject(cycle.shape),
  durationInMs: z.int(),
})

const abi = z
  .string()
  .regex(/^\s*\[[\s\S]*\]\s*$/)
  .meta({ description: 'A stringified ABI' })
const methods = z.array(z.string()).meta({ description: 'Names of functions of the ABI' })
const contract = z.strictObject({
  name,
  address,
  abi,
  whitelistedMethods: methods,
  methods,
})

const rule = z.strictObject({
  _id: id,
  name,
  policyType: z.enum(['SMART_CONTRACT', 'PAYMASTER_SA_LIMIT', 'WALLET_DEPLOYMENT', 'WEBHOOK']),
  organisationId: id,
  paymasterId: id,
  active: z.boolean(),
  policyData: z.union([
    limitData,
    contract,
    z.strictObject({ operator: z.literal('walletDeployment') }),
    z.strictObject({ url }),
  ]),
})

const newRule = z.discriminatedUnion('policyType', [
  z.looseObject({
    name,
    policyType: z.literal('PAYMASTER_SA_LIMIT'),
    policyData: z.looseObject(limit),
  }),
  z.looseObject({
    name,
    policyType: z.literal('WALLET_DEPLOYMENT'),
    policyData: z.looseObject({}),
  }),
  z.looseObject({
    name,
    policyType: z.literal('WEBHOOK'),
    policyData: z.looseObject({ url }),
  }),
])

const newApp = z.strictObject({ name, chainId: z.int(), apiKey: z.string() })
const listedApp = z.strictObject({
  name: z.string(),
  chainId: z.int().nullable().meta({ description: 'null for an app that was made elsewhere' }),
  apiKey: z.null(),
})

const webhookRoute = { path: 'webhook', needsKey: true } as const
const contractRoute = { path: 'smart-contract', role: 'admin', needsKey: true } as const
const policyRoute = { role: 'admin', needsKey: true } as const

/** All operations that scripts of the original service know, in the order of the page. */
export const interfaceRoutes: readonly InterfaceRoute[] = [
  {
    ...webhookRoute,
    method: 'POST',
    role: 'developer',
    summary: 'Registers a webhook, which is active at once; five an app.',
    body: z.looseObject({ webhookUrl: url, requestType: z.enum(['GET', 'POST']) }),
    message: 'Webhook created',
    data: webhook,
  },
  {
    ...webhookRoute,
    method: 'GET',
    role: 'viewer',
    summary: 'A list of the webhook of that id; empty when there is none.',
    query: z.looseObject({ webhookId: z.string() }),
    message: 'Webhook list fetched',
    data: z.array(webhook).max(1),
  },
  {
    ...webhookRoute,
    method: 'PATCH',
    role: 'developer',
    summary: 'Switches a webhook on or off.',
    body: z.looseObject({ webhookId: z.string(), active: z.boolean() }),
    message: 'Webhook updated',
  },
  {
    ...webhookRoute,
    method: 'DELETE',
    role: 'developer',
    summary: 'Ends a webhook.',
    body: z.looseObject({ webhookId: z.string() }),
    message: 'Webhook deleted',
  },
  {
    path: 'paymaster',
    needsKey: false,
    method: 'POST',
    role: 'admin',
    summary: 'An app with a key, sponsored on this chain only; the key is shown this once.',
    body: z.looseObject({ name, chainId: z.int().min(1) }),
    message: 'DApp registered successfully',
    data: newApp,
  },
  {
    path: 'paymaster',
    needsKey: false,
    method: 'GET',
    role: 'viewer',
    summary: "The account's apps; `apiKey` is null, since keys are stored as hashes.",
    message: 'DApp list fetched',
    data: z.array(listedApp),
  },
  {
    ...contractRoute,
    method: 'POST',
    summary: 'Sponsors calls of these functions of the contract.',
    body: z.looseObject({ name, address, abi, whitelistedMethods: methods.optional() }),
    message: 'Smart contract registered successfully',
  },
  {
    ...contractRoute,
    method: 'GET',
    role: 'viewer',
    summary: 'The contracts of the app.',
    message: 'Smart contract list fetched',
    data: z.array(contract),
  },
  {
    ...contractRoute,
    method: 'PATCH',
    summary: 'Other functions of a contract.',
    body: z.looseObject({ address, whitelistedMethods: methods }),
    message: 'Smart contract updated',
    data: contract,
  },
  {
    ...contractRoute,
    method: 'DELETE',
    summary: 'Ends the rule of a contract.',
    body: z.looseObject({ address }),
    message: 'Smart contract deleted',
  },
  {
    ...policyRoute,
    path: 'paymaster-policy',
    method: 'POST',
    summary: 'A limit, a webhook that is always asked, or a rule for deployments.',
    body: newRule,
    message: 'Paymaster Policy created successfully',
    data: rule,
  },
  {
    ...policyRoute,
    path: 'paymaster-policy',
    method: 'GET',
    role: 'viewer',
    summary: 'All rules of the app.',
    message: 'Paymaster Policies found!',
    data: z.array(rule),
  },
  {
    ...policyRoute,
    path: 'paymaster-policy/limit/{policyId}',
    method: 'PATCH',
    summary: 'Another limit; what the body leaves out stays.',
    body: z.looseObject({
      ...z
        .looseObject({ name, ...limit })
        .omit({ type: true })
        .partial().shape,
    }),
    message: 'Paymaster Limit updated',
  },
  {
    ...policyRoute,
    path: 'paymaster-policy/activate/{policyId}',
    method: 'PATCH',
    summary: 'Switches a rule on.',
    message: 'Paymaster Policy Activated!',
  },
  {
    ...policyRoute,
    path: 'paymaster-policy/deactivate/{policyId}',
    method: 'PATCH',
    summary: 'Switches a rule off.',
    message: 'Paymaster Policy Deactivated!',
  },
]
