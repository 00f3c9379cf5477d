import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DevInfo } from '../devInfo.js'

/** Where the development chain of a data folder is, for commands beside the running service. */
export type DevChainRecord = Pick<DevInfo, 'chainId' | 'rpcUrl' | 'entryPoints' | 'tokens'>

function fileIn(dataFolder: string): string {
  return join(dataFolder, 'devChain.json')
}

/** undefined when no service with a development chain has run on this folder. */
export function readDevChain(dataFolder: string): DevChainRecord | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataFolder), 'utf8')) as DevChainRecord
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export function writeDevChain(dataFolder: string, record: DevChainRecord): void {
  const file = fileIn(dataFolder)
  writeFileSync(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}
