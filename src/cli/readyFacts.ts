import { execFile } from 'node:child_process'
import type { Config } from '../config/options.js'
import type { RunningService } from './serve.js'

/** The facts that `purser serve` prints when it is ready. */
export type ReadyFacts = {
  readonly url: string
  /** Undefined where the administration has no listener of its own. */
  readonly adminUrl: string | undefined
  /** The sentences that say why a configured chain is not served yet. */
  readonly away: readonly string[]
  readonly devChain: { readonly chainId: number; readonly rpcUrl: string } | undefined
}

export function readyFacts(config: Config, { server, devChain }: RunningService): ReadyFacts {
  const hasOwnAdmin = server.adminUrl !== server.url
  return {
    url: config.publicUrl ?? server.url,
    adminUrl: hasOwnAdmin ? (config.adminUrl ?? server.adminUrl) : undefined,
    away: [...server.awayChains.values()],
    devChain: devChain && { chainId: devChain.definition.chainId, rpcUrl: devChain.rpcUrl },
  }
}

export function printReady({ url, adminUrl, away, devChain }: ReadyFacts): void {
  if (adminUrl !== undefined) console.log(`Administration is at ${adminUrl}`)
  console.log(`Purser is ready at ${url}`)
  for (const reason of away)
    console.error(`${reason} The other chains are served, and this one is tried again.`)
  if (devChain) console.log(`Development chain ${devChain.chainId} at ${devChain.rpcUrl}`)
  notifySystemd()
}

/**
 * Tells systemd that the service is ready, where a unit of `Type=notify` waits for it. By its own program: Node has no
 * sockets of the kind that systemd listens on.
 */
function notifySystemd(): void {
  if (process.env.NOTIFY_SOCKET === undefined) return
  execFile('systemd-notify', ['--ready', `--pid=${process.pid}`], (error) => {
    if (error) console.error(`systemd does not know that the service is ready: ${error.message}`)
  })
}
