import { setFlagsFromString } from 'node:v8'

/** Percent of what lived after the last full collection by which the heap may grow until the next. */
const GROWTH = 100

/**
 * Keeps the process small under load. Left alone, V8 lets the heap grow up to fourfold between full
 * collections, and what it grows by is garbage that outlived the young generation.
 */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`)
}
