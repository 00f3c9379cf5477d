import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Logger } from 'pino'
import { ListenError } from '../errors/listenError.js'
import { createApp } from './createApp.js'
import type { ApiLimits } from './limits.js'
import type { Services } from './services.js'

export type ApiOptions = {
  readonly services: Services
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly logger: Logger
  readonly limits: ApiLimits
}

export type Api = {
  /** `http://host:port`, without a trailing slash. */
  readonly url: string
  /** Stops accepting, lets running requests finish within `closeTimeout`, closes every socket. */
  close(): Promise<void>
}

/** Serves the interface over HTTP. Throws ListenError when the address cannot be had. */
export const startApi = async (options: ApiOptions): Promise<Api> => {
  const { services, host, port, logger, limits } = options
  const app = createApp(services, limits, logger)
  const server = createAdaptorServer({
    fetch: app.fetch,
    hostname: host,
    serverOptions: {
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      maxHeaderSize: 16 * 1024,
    },
  }) as Server
  closeSocketsOfLastAnswers(server)
  await listen(server, host, port)
  return { url: urlOf(server.address() as AddressInfo), close: () => close(server, limits) }
}

const listen = async (server: Server, host: string, port: number): Promise<void> => {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new ListenError(host, port, error as NodeJS.ErrnoException)
  }
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`

const close = async (server: Server, limits: ApiLimits): Promise<void> => {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  const timer = setTimeout(() => server.closeAllConnections(), limits.closeTimeout)
  await closed
  clearTimeout(timer)
}

/**
 * Node closes idle sockets when `close` is called. Those then in use must follow when answer and
 * request are both through, in whichever order: a refused body may still be arriving.
 */
const closeSocketsOfLastAnswers = (server: Server): void => {
  server.on('request', (incoming, outgoing) => {
    const closeIdle = (): void => {
      if (!server.listening) server.closeIdleConnections()
    }
    incoming.once('close', closeIdle)
    outgoing.once('close', closeIdle)
  })
}
