import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'

/** Percent by which the heap may grow between full collections. */
const GROWTH = 100

/** Cores up to which collecting the young generation with helper threads costs more than it saves. */
const FEW_CORES = 2

/**
 * Keeps the process small under load. Left alone, V8 lets the heap grow up to fourfold between full
 * collections, and what it grows by is garbage that outlived the young generation.
 *
 * V8 also collects the young generation on up to four threads. Where the cores are busy that shortens no pause
 * and takes twice the CPU (see bench/results/performance.md).
 */
export function tuneHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`)
  if (availableParallelism() <= FEW_CORES) setFlagsFromString('--no-parallel-scavenge')
}
