import { existsSync, mkdirSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Logger } from 'pino'
import type { Hash } from 'viem'
import { type AnvilClient, anvilClient } from './anvilClient.js'
import { type AnvilProcess, guardAnvil, launchAnvil, PortTakenError } from './anvilProcess.js'
import { type AnvilRecord, readRecord, writeRecord } from './anvilRecord.js'
import { commandLineOf, endProcess, signalProcess } from './processIdentity.js'

export type AnvilOptions = {
  readonly chainId: number
  /**
   * Where the chain lives on over restarts; absent = in memory only. The caller holds the lock of
   * this directory: a start adopts a chain that is still running.
   */
  readonly dataDir?: string | undefined
  /** Seconds between blocks; absent = a block per transaction. */
  readonly blockTime?: number | undefined
  /** A node whose chain, at its newest block, is the beginning of this one; absent = an empty chain. */
  readonly forkUrl?: string | undefined
  /** Absent = anvil's newest. */
  readonly hardfork?: string | undefined
  readonly logger: Logger
}

export type Anvil = {
  readonly rpcUrl: string
  readonly pid: number
  /** Saves the chain, ends anvil and waits until it is gone. A failed save is logged. */
  stop(): Promise<void>
}

type Running = AnvilProcess & { readonly port: number }

/**
 * Starts the embedded chain on the loopback interface. With a data directory the chain goes on
 * where it stopped, at the same port when that is free; an anvil that outlived us is adopted, with
 * its pending transactions, unless it was started with other settings: then it is saved and ended.
 * @throws DevChainError when it cannot start; no process is left behind then
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { dataDir, logger } = options
  if (dataDir !== undefined) return startKept(options, dataDir)
  return manage(await launchAnvil(settingsOf(options), 0, () => {}), undefined, logger)
}

async function startKept(options: AnvilOptions, dataDir: string): Promise<Anvil> {
  const { chainId, logger } = options
  mkdirSync(dataDir, { recursive: true })
  const recordFile = join(dataDir, `chain-${chainId}.process.json`)
  const stateFile = join(dataDir, `chain-${chainId}.state.json`)
  const settings = settingsOf(options)

  const previous = readRecord(recordFile)
  const survivor = previous && (await adoptSurvivor(previous, chainId))
  const save = ({ pid, commandLine }: AnvilProcess, port: number | undefined): void =>
    writeRecord(recordFile, {
      pid,
      commandLine,
      port,
      settings: settings.join(' '),
    })
  if (survivor && previous.settings === settings.join(' ')) {
    logger.info({ pid: survivor.pid }, 'adopted the development chain, which was still running')
    save(survivor, survivor.port)
    return manage(survivor, stateFile, logger)
  }
  if (survivor) await manage(survivor, stateFile, logger).stop()
  if (previous) await endProcess(previous)

  // anvil would keep its cache in the home directory; the path also distinguishes our process from others.
  const args = [...settings, '--cache-path', join(dataDir, 'anvil-cache')]
  if (existsSync(stateFile)) args.push('--load-state', stateFile)
  const launch = (port: number) => launchAnvil(args, port, (anvil) => save(anvil, undefined))
  const anvil = await launch(previous?.port ?? 0).catch((error) => {
    if (error instanceof PortTakenError) return launch(0)
    throw error
  })
  save(anvil, anvil.port)
  return manage(anvil, stateFile, logger)
}

function settingsOf({ chainId, blockTime, forkUrl, hardfork }: AnvilOptions): string[] {
  return [
    '--chain-id',
    String(chainId),
    ...(blockTime === undefined ? [] : ['--block-time', String(blockTime)]),
    ...(hardfork === undefined ? [] : ['--hardfork', hardfork]),
    // Each start forks a newer block, for which nothing that was kept is of use.
    ...(forkUrl === undefined ? [] : ['--fork-url', forkUrl, '--no-storage-caching']),
  ]
}

/** The recorded anvil, under a watchdog of ours, if it still runs and serves the chain. */
async function adoptSurvivor(
  { pid, commandLine, port }: AnvilRecord,
  chainId: number,
): Promise<Running | undefined> {
  if (port === undefined || commandLineOf(pid) !== commandLine) return undefined
  // Before it is asked, so that the watchdog that the former owner left does not end it afterwards.
  const watchdog = guardAnvil(pid)
  const served = await anvilClient(urlOf(port))
    .getChainId()
    .catch(() => undefined)
  if (served === chainId) return { pid, commandLine, port, watchdog }
  await watchdog.dismiss()
  return undefined
}

function manage(anvil: Running, stateFile: string | undefined, logger: Logger): Anvil {
  const rpcUrl = urlOf(anvil.port)
  const saver = stateFile && startStateSaver(anvilClient(rpcUrl), stateFile, logger)
  const endNow = (): void => signalProcess(anvil, 'SIGTERM')
  process.once('exit', endNow)

  const stop = async (): Promise<void> => {
    if (saver) {
      await saver.stop().catch((error) => logger.error({ err: error }, 'chain state not saved'))
    }
    await endProcess(anvil)
    await anvil.watchdog.dismiss()
    process.removeListener('exit', endNow)
  }
  let stopped: Promise<void> | undefined
  return {
    rpcUrl,
    pid: anvil.pid,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`
}

const MIN_PAUSE_MS = 1_000

/** Saving takes at most this share of the time, however large the chain has grown. */
const MAX_SHARE = 0.1

/**
 * Saves the chain's state to `file` about a second after each new block. anvil's own
 * --state-interval truncates the file in place, so a kill at the wrong moment leaves a chain that
 * cannot be loaded; here the file is replaced whole or not at all.
 */
function startStateSaver(client: AnvilClient, file: string, logger: Logger) {
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
    /** Saves once more and stops. Rejects when the chain no longer answers. */
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
