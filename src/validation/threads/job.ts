import type { Hex } from 'viem'
import { createEntryPoint } from '../../entrypoint/createEntryPoint.js'
import type { EntryPoint, Version } from '../../entrypoint/entryPoint.js'
import type { StateOverride } from '../engine.js'
import { type CarriedBlock, unpackBlock } from './carriedBlock.js'
import type { CodeReceiver } from './codes.js'
import { type PackedPass, packPass } from './packedPreimages.js'
import { runTask, type Task } from './task.js'

/** A part of the work on one operation as data: it goes to another thread and its end comes back. */
export type Job = {
  readonly entryPoint: { readonly version: Version; readonly address: EntryPoint['address'] }
  readonly override: StateOverride
  readonly known: CarriedBlock
  readonly task: Task
  /** See `Allowance`. */
  readonly runSteps: number
}

/** Milliseconds after which a job makes room for another one, as soon as a run has ended. */
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
