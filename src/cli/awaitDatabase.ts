import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createStateLog } from '../base/stateLog.js'
import type { Config } from '../config/options.js'
import { reasonAway } from '../db/isReachable.js'

/** Milliseconds between looks at a database that is away. */
const RETRY = 1_000

/**
 * Waits until the configured database server takes connections, so that a start at the same time or earlier needs no
 * supervisor. Meanwhile the service's port answers: alive, and not ready because of that. False = asked to stop.
 */
export async function awaitDatabase(
  { databaseUrl, host, port }: Pick<Config, 'databaseUrl' | 'host' | 'port'>,
  logger: Logger,
  stopped: Promise<unknown>,
): Promise<boolean> {
  if (databaseUrl === undefined) return true
  const state = createStateLog(
    logger,
    'waiting for the database, which does not answer',
    'the database answers',
  )
  const asked = stopped.then(() => 'stop' as const)
  let server: Server | undefined
  try {
    for (;;) {
      const reason = await reasonAway({ url: databaseUrl })
      if (reason === undefined) break
      state.away({ reason })
      server ??= await answerUnready(host, port)
      if ((await Promise.race([asked, delay(RETRY)])) === 'stop') return false
    }
    state.back()
    return true
  } finally {
    server?.close()
    server?.closeAllConnections()
  }
}

/** A listener that is alive and not ready. Where the port is taken, the start says so later. */
async function answerUnready(host: string, port: number): Promise<Server> {
  const unready = {
    status: 'unavailable',
    checks: { database: false },
    reasons: ['The service waits for its database, which does not answer.'],
  }
  const server = createServer(({ url = '' }, response) => {
    const isAlive = url === '/health' || url === '/health/live'
    const headers = { 'content-type': 'application/json', connection: 'close', 'retry-after': '2' }
    response
      .writeHead(isAlive ? 200 : 503, headers)
      .end(JSON.stringify(isAlive ? { status: 'ok' } : unready))
  })
  server.listen(port, host)
  await once(server, 'listening').catch(() => {})
  return server
}
