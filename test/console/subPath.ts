import { request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { selfSigned } from '../support/http/selfSigned.js'

/** A proxy as operators have one: https, and the administration below a path of its own. */
export type SubPath = {
  /** What browsers open: `https://localhost:PORT/ops`. */
  readonly url: string
  /** Says where the administration is. */
  leadTo(url: string): void
  stop(): Promise<void>
}

const PATH = '/ops'

export async function startSubPath(): Promise<SubPath> {
  let target = ''
  const server = createServer(selfSigned, (from, to) => {
    if (target === '' || from.url?.startsWith(`${PATH}/`) !== true) {
      to.writeHead(404).end()
      return
    }
    const { method = 'GET', headers } = from
    const onward = request(
      `${target}${from.url.slice(PATH.length)}`,
      { method, headers },
      (answer) => {
        to.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(to)
      },
    )
    to.on('close', () => onward.destroy())
    onward.on('error', () => to.destroy())
    from.pipe(onward)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://localhost:${port}${PATH}`,
    leadTo(url) {
      target = url
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
