import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below what Linux (32768) and others give out to those who ask for any port. */
const FIRST = 15_000
const COUNT = 10_000
let next = process.pid % COUNT

/** A free port of the loopback interface that no process gets by asking for any: it stays free between two uses. */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = FIRST + next
    next = (next + 1) % COUNT
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
