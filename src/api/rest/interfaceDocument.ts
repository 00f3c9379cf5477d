import { z } from 'zod'
import { version } from '../../base/version.js'
import { type EventType, eventTypes } from '../../base/vocabulary.js'
import { type WebhookOperation, webhookOperations } from './webhooks.js'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of webhook management, with the calls that Purser makes. */
export function interfaceDocument(): Json {
  const operations = [...webhookOperations].map(([name, described]): [string, Json] => {
    const method = name.toLowerCase()
    return [method, operation(method, described)]
  })
  return {
    openapi: '3.1.0',
    info: { title: 'Purser webhooks', version },
    servers: [{ url: '/api/v2/public/sdk' }],
    paths: { '/webhook': Object.fromEntries(operations) },
    webhooks: outgoing(),
    components: {
      securitySchemes: {
        authToken: { type: 'apiKey', in: 'header', name: 'authToken' },
        apiKey: { type: 'apiKey', in: 'header', name: 'apiKey' },
      },
      schemas: {
        Failure: schemaOf(z.strictObject({ statusCode: z.int(), message: z.string() }), 'output'),
      },
    },
  }
}

function operation(
  method: string,
  { summary, role, query, body, message, data }: WebhookOperation,
): Json {
  const answer = z.strictObject({
    statusCode: z.literal(200),
    message: z.literal(message),
    ...(data === undefined ? {} : { data }),
  })
  return {
    operationId: `${method}-webhook`,
    summary,
    'x-role': role,
    security: [{ authToken: [], apiKey: [] }],
    parameters: Object.keys(query?.shape ?? {}).map((name) => ({
      name,
      in: 'query',
      required: true,
      schema: { type: 'string' },
    })),
    ...(body && { requestBody: { required: true, content: content(schemaOf(body, 'input')) } }),
    responses: {
      200: { description: message, content: content(schemaOf(answer, 'output')) },
      default: {
        description: 'Refused',
        content: content({ $ref: '#/components/schemas/Failure' }),
      },
    },
  }
}

/** The headers of Standard Webhooks, by which receivers know that a call is ours. */
const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
  name,
  in: 'header',
  required: true,
  schema: { type: 'string' },
}))

function outgoing(): Json {
  const approval = {
    post: {
      operationId: 'approval',
      summary: 'Asks a webhook of the app for its approval of a sponsorship; signed.',
      parameters: signed,
      requestBody: { required: true, content: content(schemaOf(approvalBody, 'output')) },
      responses: {
        200: { description: 'The decision', content: content(schemaOf(approvalAnswer, 'input')) },
        '4XX': { description: 'Denied' },
        default: { description: 'An outage of the webhook' },
      },
    },
  }
  const events = eventBodies.map(([type, body]) => [
    type,
    {
      post: {
        operationId: type,
        summary: `Delivers ${type} to a subscription; at least once, in any order.`,
        parameters: signed,
        requestBody: { required: true, content: content(schemaOf(body, 'output')) },
        responses: {
          '2XX': { description: 'Taken' },
          410: { description: 'Ends the subscription' },
          default: { description: 'Tried again later' },
        },
      },
    },
  ])
  return { approval, ...Object.fromEntries(events) }
}

function content(schema: Json): Json {
  return { 'application/json': { schema } }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io })
  return rest
}

const address = z.string().regex(/^0x[0-9a-f]{40}$/)
const word = z.string().regex(/^0x[0-9a-f]{64}$/)
const bytes = z.string().regex(/^0x([0-9a-fA-F]{2})*$/)
const quantity = z.string().regex(/^0x[0-9a-f]+$/)
const decimal = z.string().regex(/^\d+$/)

const webhookData = z
  .record(z.string(), z.unknown())
  .meta({ description: 'webhookData of the request, as it came' })

const context = z.strictObject({
  appId: z.uuid(),
  chainId: z.int(),
  entryPoint: address,
  entryPointVersion: z.string(),
  sender: address,
  nonce: quantity,
  calls: z
    .array(z.strictObject({ to: address, value: decimal, selector: bytes.nullable() }))
    .nullable(),
  policyId: z.uuid().nullable(),
  maxCostWei: decimal.nullable(),
  maxCostUsd: z
    .string()
    .regex(/^\d+\.\d{6}$/)
    .nullable(),
  userOperation: z.strictObject({
    sender: address,
    nonce: quantity,
    factory: z.string().nullable(),
    factoryData: bytes.nullable(),
    callData: bytes,
    callGasLimit: quantity.nullable(),
    verificationGasLimit: quantity.nullable(),
    preVerificationGas: quantity.nullable(),
    maxFeePerGas: quantity.nullable(),
    maxPriorityFeePerGas: quantity.nullable(),
  }),
})

/** The body of an approval call by POST: plain, extended, or that of a test of a webhook with the extended payload. */
const approvalBody = z.union([
  z.strictObject({ data: webhookData }),
  z.strictObject({
    data: webhookData,
    type: z.literal('sponsorship.requested'),
    timestamp: z.int().meta({ description: 'Unix seconds' }),
    context,
  }),
  z.strictObject({ data: webhookData, type: z.literal('sponsorship.test') }),
])

/** The answer that approves or denies. */
const approvalAnswer = z.looseObject({
  arePoliciesVerified: z.boolean(),
  reason: z.string().optional(),
})

/** Members that all events about an operation have. */
const subject = {
  chainId: z.int(),
  entryPoint: address,
  sender: address,
  nonce: decimal,
  userOpHash: word,
}

const ended = z.looseObject({
  ...subject,
  transactionHash: word.optional(),
  blockNumber: z.int().optional(),
  success: z.boolean().optional(),
  actualGasCost: decimal.optional(),
  actualGasUsed: decimal.optional(),
  code: z.string().optional(),
  reason: z.string().optional(),
})

const settled = z.looseObject({
  ...subject,
  userOpHash: word.optional(),
  paymaster: address,
  maxCostWei: decimal,
  actualCostWei: decimal.optional(),
})

const eventData: Readonly<Record<EventType, z.ZodType>> = {
  'sponsorship.signed': z.looseObject({
    ...subject,
    decisionId: z.uuid(),
    maxCostWei: decimal,
    validUntil: z.int(),
  }),
  'sponsorship.settled': settled,
  'sponsorship.expired': settled,
  'user_operation.included': ended,
  'user_operation.failed': ended,
  'user_operation.dropped': ended,
  'tank.low': z.looseObject({
    chainId: z.int(),
    available: z.string().regex(/^-?\d+$/),
    days: z.number().nullable(),
  }),
  'webhook.circuit_opened': z.strictObject({ webhookId: z.uuid(), webhookUrl: z.string() }),
}

/** The body of each event. */
const eventBodies: readonly (readonly [EventType, z.ZodType])[] = eventTypes.map((type) => [
  type,
  z.strictObject({
    type: z.literal(type),
    timestamp: z.iso.datetime(),
    data: eventData[type],
  }),
])
