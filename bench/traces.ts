/**
 * What traces cost the thread that answers, for each operation: where they are off, where all operations are traced,
 * and where one in a hundred is. Spans go to a receiver in a process of its own. Prints a table and the same as JSON.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { keccak256, numberToHex } from 'viem'
import type { EndedOperation } from '../src/records/endedOperations.js'
import { openTraces } from '../src/telemetry/traces/openTraces.js'
import type { OperationTraces } from '../src/telemetry/traces/operationTraces.js'
import { silent } from '../test/support/logger.js'

/** Operations of a turn: fewer than fill the sender's memory. */
const OPERATIONS = 500
const TURNS = 40
const WARM_UP = 5
const CHAIN_ID = 31_337

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

const RECEIVER = `require('node:http').createServer((request, response) => {
  request.resume().on('end', () => response.end('{}'))
}).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

function endedOperation(number: number): EndedOperation {
  const time = new Date()
  return {
    hash: keccak256(numberToHex(number)),
    sender: '0x00000000000000000000000000000000000a11ce',
    appId: 'e0f7c3a0-9f6a-4d8e-9f3a-000000000001',
    outcome: 'included',
    code: null,
    receivedAt: time,
    bundledAt: time,
    sentAt: time,
    endedAt: time,
    bundleId: 1n,
    decisionId: 'e0f7c3a0-9f6a-4d8e-9f3a-000000000002',
    transactionHash: keccak256(numberToHex(number + 1)),
    blockNumber: 1n,
    cost: 1n,
    mode: 'tank',
  }
}

/** What the service asks of traces for one operation, in the places where it asks. */
function trace(traces: OperationTraces | undefined, operation: EndedOperation): void {
  const { hash: userOpHash, appId, decisionId } = operation
  const answer = (): void => {
    const begin = Date.now()
    const step = { chainId: CHAIN_ID, userOpHash, appId, begin }
    traces?.sponsored({ ...step, decisionId: decisionId ?? '' })
    traces?.admitted(step)
  }
  if (traces) traces.underCaller(TRACEPARENT, answer)
  else answer()
  traces?.ended(CHAIN_ID, operation)
}

/** Microseconds of this process's CPU for each operation, sending included. */
async function measure(traces: OperationTraces | undefined, operations: readonly EndedOperation[]) {
  const before = process.cpuUsage()
  for (const operation of operations) trace(traces, operation)
  await traces?.close()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / operations.length
}

const receiver = spawn(process.execPath, ['-e', RECEIVER], { stdio: ['ignore', 'pipe', 'inherit'] })
const [port] = (await once(receiver.stdout, 'data')) as [Buffer]
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(port).trim()}` }
const share = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' }
const kinds = { off: {}, 'one in a hundred': { ...endpoint, ...share }, all: endpoint }

const operations = Array.from({ length: OPERATIONS }, (_, number) => endedOperation(number))
const figures = Object.keys(kinds).map((traces) => ({ traces, each: [] as number[] }))
for (let turn = -WARM_UP; turn < TURNS; turn++)
  for (const [place, environment] of Object.values(kinds).entries()) {
    const traces = await openTraces(environment, silent)
    const figure = await measure(traces, operations)
    if (turn >= 0) figures[place]?.each.push(figure)
  }
receiver.kill()

const medians = figures.map(({ traces, each }) => ({
  traces,
  'CPU µs / operation': Number(each.sort((a, b) => a - b)[TURNS / 2]?.toFixed(2)),
}))
console.table(medians)
console.log(JSON.stringify(medians))
