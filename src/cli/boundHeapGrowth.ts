import { setFlagsFromString } from 'node:v8'

/** Percent by which the heap may grow between full collections. */
const GROWTH = 100

/**
 * Keeps the process small under load. Left alone, V8 lets the heap grow up to fourfold between full
 * collections, and what it grows by is garbage that outlived the young generation.
 */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`)
}
