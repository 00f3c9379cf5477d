import { z } from 'zod'
import { address, hash, wei } from '../../tenants/schemas.js'

const named = z.object({ name: z.string(), value: z.string() })

/** `name` is null where it is none of the common standards. */
const event = z.object({
  address,
  name: z.string().nullable(),
  args: z.array(named),
  topics: z.array(z.string()),
  data: z.string(),
})

/** One frame of the call tree of an operation. */
const replayedFrame = z.object({
  /** 0 for the call of the EntryPoint; a frame belongs to the last one before it that is less deep. */
  depth: z.int(),
  kind: z.enum(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL', 'CREATE', 'CREATE2']),
  from: address,
  to: address,
  /** The part that `to` has in the operation: account, paymaster, factory, EntryPoint, precompile. */
  role: z.string().nullable(),
  value: wei,
  gas: z.int(),
  /** With that of all frames below. */
  gasUsed: z.int(),
  function: z.object({ signature: z.string(), args: z.array(named) }).nullable(),
  /** The first 512 bytes of the calldata, and its length; so for what it returned. */
  input: z.string(),
  inputBytes: z.int(),
  output: z.string(),
  outputBytes: z.int(),
  error: z.string().nullable(),
  reason: z.string().nullable(),
  /** Whether it or a frame above it failed, so that nothing of it stayed. */
  isUndone: z.boolean(),
  /** Whether the operation failed here. */
  isFault: z.boolean(),
  storage: z.array(z.object({ slot: z.string(), before: z.string(), after: z.string() })),
  events: z.array(event),
})

const transfer = z.object({
  kind: z.enum(['native', 'erc20', 'erc721', 'erc1155']),
  /** null = the chain's coin */
  token: address.nullable(),
  from: address,
  to: address,
  amount: z.string(),
  /** Of an item; null = there are none. */
  id: z.string().nullable(),
})

/** An operation that was run again from what its run had read. */
export const replayedOperation = z.object({
  /**
   * `mined`: in its transaction; `refused`: its validation, when it was sent or validated again; `alone`: by itself, on the
   * state of a later block, or of the one before its own.
   */
  moment: z.enum(['mined', 'refused', 'alone']),
  transactionHash: hash.nullable(),
  /** Whether something was otherwise than in the run that was kept: then no signature counts. */
  isChanged: z.boolean(),
  /** Whether state that was not kept was read from a node. */
  hasRead: z.boolean(),
  block: z.string(),
  /** Unix seconds */
  blockTime: z.string(),
  success: z.boolean(),
  /** null where it was refused */
  actualGasUsed: z.string().nullable(),
  actualGasCost: wei.nullable(),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  revertData: z.string(),
  frames: z.array(replayedFrame),
  /** Whether frames are left out: there are too many. */
  isCut: z.boolean(),
  transfers: z.array(transfer),
})

export type ReplayedOperation = z.infer<typeof replayedOperation>
export type ReplayedFrame = z.infer<typeof replayedFrame>
export type NamedEvent = z.infer<typeof event>
export type ReplayedTransfer = z.infer<typeof transfer>
