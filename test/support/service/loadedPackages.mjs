// Preloaded into a command: its last line on standard error is the packages that it has loaded, as JSON.
import { Session } from 'node:inspector'

const files = []
const session = new Session()
session.connect()
session.on('Debugger.scriptParsed', ({ params }) => files.push(params.url))
session.post('Debugger.enable')

function nameOf(file) {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(file)?.[1]
}

process.on('exit', () => {
  const names = new Set(files.map(nameOf).filter((name) => name !== undefined))
  const wholeViem = files.some((file) => file.endsWith('/viem/_esm/index.js'))
  const parts = {
    'all of viem': wholeViem,
    'the sender of traces': files.some((file) => file.includes('/dist/telemetry/traces/otlp/')),
  }
  const loaded = Object.keys(parts).filter((part) => parts[part])
  process.stderr.write(`${JSON.stringify([...names, ...loaded].sort())}\n`)
})
