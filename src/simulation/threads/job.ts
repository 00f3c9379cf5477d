import type { Hex } from 'viem'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import type { EntryPoint, Version } from '../../erc4337/entryPoint.js'
import type { Preimage } from '../../evm/index.js'
import type { StateOverride } from '../engine.js'
import {
  type MeasurePass,
  type MeasureTask,
  measureOperation,
} from '../inProcess/measureOperation.js'
import { type BundleRun, type BundleTask, runBundle } from '../inProcess/runBundle.js'
import {
  type Allowance,
  type Ground,
  type OperationRun,
  type PassEnd,
  type RunTask,
  runOperation,
} from '../inProcess/runOperation.js'
import { type CarriedBlock, unpackBlock } from './carriedBlock.js'
import type { CodeReceiver } from './codes.js'

/** A part of the work on one operation as data: it goes to another thread and its end comes back. */
export type Job = {
  readonly entryPoint: { readonly version: Version; readonly address: EntryPoint['address'] }
  readonly override: StateOverride
  readonly known: CarriedBlock
  readonly task: Task
  /** See `Allowance`. */
  readonly runSteps: number
}

/** Milliseconds after which a job yields to another one, as soon as a run has ended. */
const JOB_TIME = 50

/** Runs jobs as they come to a thread, which keeps the code that they bring. */
export function createJobRunner(receive: CodeReceiver) {
  const entryPoints = new Map<Hex, EntryPoint>()
  const entryPointOf = ({ version, address }: Job['entryPoint']): EntryPoint => {
    const known = entryPoints.get(address) ?? createEntryPoint(version, address)
    entryPoints.set(address, known)
    return known
  }
  return ({ entryPoint, override, known, task, runSteps }: Job): PackedPass => {
    const { block, state } = unpackBlock(known, receive)
    const end = performance.now() + JOB_TIME
    const allowance = { runSteps, mayGoOn: () => performance.now() < end }
    const ground = { block, known: state, override }
    return packPass(runTask(ground, entryPointOf(entryPoint), task, allowance))
  }
}

/** Work on one operation, or on a mined bundle, in our EVM. */
export type Task = RunTask | BundleTask | MeasureTask

/** The end of a part of such work. */
export type TaskPass<Of extends Task> = Of extends MeasureTask
  ? MeasurePass
  : Of extends BundleTask
    ? { readonly end: PassEnd<BundleRun> }
    : { readonly end: PassEnd<OperationRun> }

/** Does a part of the work, on a state that may be incomplete. */
export function runTask<Of extends Task>(
  ground: Ground,
  entryPoint: EntryPoint,
  task: Of,
  allowance: Allowance,
): TaskPass<Of> {
  return passOf(ground, entryPoint, task, allowance) as TaskPass<Of>
}

function passOf(ground: Ground, entryPoint: EntryPoint, task: Task, allowance: Allowance) {
  switch (task.kind) {
    case 'measure':
      return measureOperation(ground, entryPoint, task, allowance)
    case 'bundle':
      return { end: runBundle(ground, entryPoint, task, allowance) }
    case 'run':
      return { end: runOperation(ground, entryPoint, task, allowance) }
  }
}

/** Hashed inputs in one piece: thousands of small arrays take long to go to another thread. */
type PackedPreimages = {
  /** Each input, followed by its hash. */
  readonly bytes: Uint8Array
  /** The sizes of the inputs. */
  readonly sizes: Uint32Array
}

const HASH_SIZE = 32

/** The end of a part of some work, as it goes to another thread. */
export type PackedPass = {
  /** Without the preimages of its record. */
  readonly pass: TaskPass<Task>
  /** Those preimages; undefined without a record. */
  readonly preimages: PackedPreimages | undefined
}

function packPass(pass: TaskPass<Task>): PackedPass {
  const { end } = pass
  if (end.kind !== 'done' || !('record' in end) || end.record === undefined) {
    return { pass, preimages: undefined }
  }
  const record = { ...end.record, preimages: [] }
  return { pass: { end: { ...end, record } }, preimages: packPreimages(end.record.preimages) }
}

export function unpackPass({ pass, preimages }: PackedPass): TaskPass<Task> {
  const { end } = pass
  if (preimages === undefined || end.kind !== 'done' || !('record' in end)) return pass
  const record = end.record && { ...end.record, preimages: unpackPreimages(preimages) }
  return { end: { ...end, record } }
}

export function packPreimages(preimages: readonly Preimage[]): PackedPreimages {
  const sizes = Uint32Array.from(preimages, ({ input }) => input.length)
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size + HASH_SIZE, 0))
  let at = 0
  for (const { input, hash } of preimages) {
    bytes.set(input, at)
    bytes.set(hash, at + input.length)
    at += input.length + HASH_SIZE
  }
  return { bytes, sizes }
}

/** The preimages as views of the packed bytes. */
export function unpackPreimages({ bytes, sizes }: PackedPreimages): Preimage[] {
  let at = 0
  return Array.from(sizes, (size) => {
    const end = at + size
    const preimage = { input: bytes.subarray(at, end), hash: bytes.subarray(end, end + HASH_SIZE) }
    at = end + HASH_SIZE
    return preimage
  })
}
