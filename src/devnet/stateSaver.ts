import { open, rename } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Logger } from 'pino'
import type { Hash } from 'viem'
import type { AnvilClient } from './anvilClient.js'

const MIN_PAUSE_MS = 1_000

/** Saving takes at most this share of the time, however large the chain has grown. */
const MAX_SHARE = 0.1

export type StateSaver = {
  /** Saves once more and stops. Rejects when the chain no longer answers. */
  stop(): Promise<void>
}

/**
 * Saves the chain's state to `file` about a second after each new block. anvil's own
 * --state-interval truncates the file in place, so a kill at the wrong moment leaves a chain that
 * cannot be loaded; here the file is replaced whole or not at all.
 */
export function startStateSaver(client: AnvilClient, file: string, logger: Logger): StateSaver {
  const stopped = new AbortController()
  let savedHead: Hash | undefined

  const save = async (): Promise<void> => {
    const { hash } = await client.getBlock()
    const dump = await client.dumpState()
    await replaceFile(file, await promisify(gunzip)(Buffer.from(dump.slice(2), 'hex')))
    savedHead = hash
  }

  const saveWhenNew = async (): Promise<void> => {
    const { hash } = await client.getBlock()
    if (hash !== savedHead) await save()
  }

  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const began = Date.now()
      await saveWhenNew().catch((error) => logger.error({ err: error }, 'chain state not saved'))
      const pause = Math.max(MIN_PAUSE_MS, (Date.now() - began) / MAX_SHARE)
      await delay(pause, undefined, { signal: stopped.signal, ref: false }).catch(() => {})
    }
  }

  const running = run()
  return {
    stop: async () => {
      stopped.abort()
      await running
      // Without asking for a new block: anvil_setBalance and its like change state without one.
      await save()
    },
  }
}

async function replaceFile(file: string, content: Buffer): Promise<void> {
  const next = `${file}.next`
  const handle = await open(next, 'w', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(next, file)
}
