/**
 * Microseconds of CPU for one `eth_sendUserOperation` of v0.7: reading its JSON, decoding its parameters as its endpoint
 * does, and, to compare, checking them by the zod schema that documents them. Prints a table and the same as JSON.
 */
import { sendUserOperation } from '../src/api/methods/sendUserOperation.js'
import { entryPointNamed, rpcOperation07 } from '../test/support/http/apiFixtures.js'

const TURNS = 41
const WARM_UP = 10
/** Requests of a turn. */
const REQUESTS = 5_000

const entryPoint = entryPointNamed('0.7')
const chain = { chainId: 10, entryPoints: new Map([[entryPoint.address, entryPoint]]) }
const [operation] = sendUserOperation.inputs
if (operation === undefined) throw new Error('eth_sendUserOperation takes no operation')

/** A transfer by `execute` of an account: 132 bytes of call data, as most have. */
const params = [
  { ...rpcOperation07, callData: `0xb61d27f6${'5a'.repeat(128)}` },
  entryPoint.address,
]
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: sendUserOperation.name, params })

const kinds: Readonly<Record<string, () => unknown>> = {
  'JSON.parse': () => JSON.parse(body),
  decode: () => sendUserOperation.decode(params, chain),
  'JSON.parse and decode': () => sendUserOperation.decode(JSON.parse(body).params, chain),
  'the schema of the documents': () => operation.json.parse(params[0]),
}

/** Microseconds of this process's CPU for one run. */
function measure(run: () => unknown): number {
  const before = process.cpuUsage()
  for (let request = 0; request < REQUESTS; request++) run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}

const figures = Object.keys(kinds).map((name) => ({ name, each: [] as number[] }))
for (let turn = -WARM_UP; turn < TURNS; turn++)
  for (const [place, run] of Object.values(kinds).entries()) {
    const figure = measure(run)
    if (turn >= 0) figures[place]?.each.push(figure)
  }

const medians = figures.map(({ name, each }) => {
  const micros = each.sort((a, b) => a - b)[(TURNS - 1) / 2] ?? 0
  return {
    step: name,
    'µs / request': Number(micros.toFixed(2)),
    'requests / s': Math.round(1e6 / micros),
  }
})
console.table(medians)
console.log(JSON.stringify(medians))
