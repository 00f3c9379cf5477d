import { afterAll, beforeAll } from 'vitest'
import type { DevInfo } from '../../src/cli/devInfo.js'
import { makeDataFolder, type RunningPurser, removeDataFolder, startPurser } from './startPurser.js'

/** One service for all tests of a file. The returned function gives its addresses once it runs. */
export const usePurser = (args: readonly string[] = []): (() => DevInfo) => {
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
    return purser.info
  }
}
