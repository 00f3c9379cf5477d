// Loaded before the program (`node --import`). Each connection to the socket PURSER_FAST_DAY lets an hour pass: the clock goes
// on, and every timer that repeats, or waits for a minute or more, fires as often as in an hour, 60 times at most. It also
// writes the address of each connection that JavaScript opens into the file PURSER_CONNECTIONS.
import { appendFileSync } from 'node:fs'
import { createServer, Socket } from 'node:net'
import { isMainThread } from 'node:worker_threads'

const HOUR = 3_600_000
const MOST = 60
const timers = new Map()
let passed = 0

const { setInterval: realInterval, clearInterval: endInterval } = globalThis
const { setTimeout: realTimeout, clearTimeout: endTimeout } = globalThis
const now = Date.now

function every(run, period = 1, ...args) {
  const timer = realInterval(run, period, ...args)
  timers.set(timer, { period, run: () => run(...args) })
  return timer
}

function once(run, delay = 1, ...args) {
  const timer = realTimeout(
    (...given) => {
      timers.delete(timer)
      run(...given)
    },
    delay,
    ...args,
  )
  if (delay >= 60_000)
    timers.set(timer, {
      period: HOUR,
      run: () => {
        endTimeout(timer)
        timers.delete(timer)
        run(...args)
      },
    })
  return timer
}

globalThis.setInterval = every
globalThis.setTimeout = Object.assign(once, realTimeout)
globalThis.clearInterval = (timer) => {
  timers.delete(timer)
  endInterval(timer)
}
globalThis.clearTimeout = (timer) => {
  timers.delete(timer)
  endTimeout(timer)
}

async function passHour() {
  passed += HOUR
  for (const { period, run } of [...timers.values()]) {
    const times = Math.min(MOST, Math.max(1, Math.floor(HOUR / period)))
    for (let time = 0; time < times; time++) {
      run()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

if (isMainThread && process.env.PURSER_FAST_DAY !== undefined) {
  Date.now = () => now() + passed
  const RealDate = Date
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length === 0 ? [RealDate.now()] : given))
    }
  }
  const server = createServer((socket) => passHour().then(() => socket.end('passed')))
  server.listen(process.env.PURSER_FAST_DAY)
  server.unref()
}

const { connect } = Socket.prototype
Socket.prototype.connect = function (...given) {
  const [target] = Array.isArray(given[0]) ? given[0] : given
  // A number is a port, other text the path of a socket.
  const {
    host = 'localhost',
    port,
    path,
  } = typeof target === 'object' ? target : Number(target) > 0 ? { port: target } : { path: target }
  appendFileSync(process.env.PURSER_CONNECTIONS, `${path ?? `${host}:${port}`}\n`)
  return connect.apply(this, given)
}
