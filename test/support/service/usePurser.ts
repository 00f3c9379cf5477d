import { afterAll, beforeAll } from 'vitest'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { makeDataFolder, type RunningPurser, removeDataFolder, startPurser } from './startPurser.js'

/** One `purser dev` for all tests of a file. The returned function gives it once it runs. */
export function useRunningPurser(args: readonly string[] = []): () => RunningPurser {
  let folder: string
  let purser: RunningPurser | undefined
  beforeAll(async () => {
    folder = makeDataFolder()
    purser = await startPurser(folder, args)
  })
  afterAll(async () => {
    await purser?.end('SIGTERM')
    removeDataFolder(folder)
  })
  return () => {
    if (!purser) throw new Error('The service does not run yet.')
    return purser
  }
}

/** As above, for tests that only need its addresses. */
export function usePurser(args: readonly string[] = []): () => DevInfo {
  const purser = useRunningPurser(args)
  return () => purser().info
}
