/**
 * Milliseconds of the requests of one key, alone and while another key asks for the most expensive estimates that it
 * may, on a running `purser dev`. Prints a table; `--json FILE` writes the same.
 */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createKey } from '../test/support/service/createKey.js'
import { askGreedily, modestRequests, timesOf } from '../test/support/service/greedyKey.js'
import {
  makeDataFolder,
  removeDataFolder,
  startPurser,
} from '../test/support/service/startPurser.js'

const WARM_UP = 40

type Requests = Awaited<ReturnType<typeof modestRequests>>
const counts: Readonly<Record<keyof Requests, number>> = {
  chainId: 200,
  estimate: 60,
  heavyEstimate: 3,
}

type Row = { readonly p50: number; readonly most: number }

function rowOf(times: readonly number[]): Row {
  const sorted = [...times].sort((a, b) => a - b)
  return { p50: sorted[sorted.length >> 1] ?? 0, most: sorted.at(-1) ?? 0 }
}

async function measure(requests: Requests): Promise<Record<keyof Requests, Row>> {
  const row = async (name: keyof Requests) => rowOf(await timesOf(counts[name], requests[name]))
  return {
    chainId: await row('chainId'),
    estimate: await row('estimate'),
    heavyEstimate: await row('heavyEstimate'),
  }
}

const { values } = parseArgs({ options: { json: { type: 'string' } } })
// npm runs scripts in the folder of package.json.
const folder = makeDataFolder()
const purser = await startPurser(folder, [], {}, resolve('dist/cli.js'))
try {
  const { info } = purser
  const requests = await modestRequests(info, await createKey(info, 'modest'))
  await timesOf(WARM_UP, requests.estimate)
  const alone = await measure(requests)
  const greedy = await askGreedily(info, info.standardUrl)
  const contended = await measure(requests)
  const begin = performance.now()
  await greedy.stop()
  console.table(
    Object.fromEntries(
      (Object.keys(counts) as (keyof Requests)[]).map((name) => [
        name,
        {
          'alone p50': alone[name].p50.toFixed(1),
          'alone most': alone[name].most.toFixed(1),
          'contended p50': contended[name].p50.toFixed(1),
          'contended most': contended[name].most.toFixed(1),
        },
      ]),
    ),
  )
  const refused = greedy.answers.filter(({ body }) => body.error?.code === -32_005).length
  if (values.json) writeFileSync(values.json, `${JSON.stringify({ alone, contended }, null, 2)}\n`)
  console.log(`the greedy key: ${greedy.answers.length} answers, ${refused} of them -32005,`)
  console.log(
    `the last ones ${((performance.now() - begin) / 1_000).toFixed(1)} s after it stopped`,
  )
} finally {
  await purser.end('SIGTERM')
  removeDataFolder(folder)
}
