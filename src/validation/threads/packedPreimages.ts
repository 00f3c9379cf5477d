import type { Preimage } from '../../evm/index.js'
import type { Task, TaskPass } from './task.js'

/** Hashed inputs in one piece: thousands of small arrays take long to go to another thread. */
export type PackedPreimages = {
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

export function packPass(pass: TaskPass<Task>): PackedPass {
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
