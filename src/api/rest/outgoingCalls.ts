import { z } from 'zod'
import { type EventType, eventTypes } from '../../base/vocabulary.js'

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
export const approvalBody = z.union([
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
export const approvalAnswer = z.looseObject({
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
export const eventBodies: readonly (readonly [EventType, z.ZodType])[] = eventTypes.map((type) => [
  type,
  z.strictObject({
    type: z.literal(type),
    timestamp: z.iso.datetime(),
    data: eventData[type],
  }),
])
