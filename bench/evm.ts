/** Milliseconds of one warm validation on our EVM: SimpleAccount, EntryPoint v0.6. */
import { call, type EvmContext, toHex } from '../src/evm/index.js'
import { BLOCK, createLocalEntryPoint } from '../test/evm/localEntryPoint.js'

const WARM_UP = 3000
const ROUNDS = 5000
const VALIDATION_RESULT = '0xe0cff05f'

const world = await createLocalEntryPoint()

for (const kind of ['plain', 'init'] as const) {
  const input = await world.simulateValidation(kind)
  const state = kind === 'plain' ? world.deployed : world.empty
  for (const record of [false, true]) {
    const context: EvmContext = { state, block: BLOCK, onMiss: 'stop', record, maxSteps: 1e7 }
    const once = () => {
      const outcome = call(context, input)
      if (outcome.kind === 'done' && toHex(outcome.output).startsWith(VALIDATION_RESULT)) return
      throw new Error(`validation failed: ${outcome.kind}`)
    }
    const first = time(once)
    for (let i = 0; i < WARM_UP; i++) once()
    const times = Array.from({ length: ROUNDS }, () => time(once)).sort((a, b) => a - b)
    const [median, p99] = [times[ROUNDS / 2]!, times[Math.floor(ROUNDS * 0.99)]!]
    const name = `${kind}, ${record ? 'recorded' : 'not recorded'}`
    const figures = [first, median, p99].map((ms) => ms.toFixed(3).padStart(9))
    console.log(
      `${name.padEnd(22)} first ${figures[0]}  median ${figures[1]}  p99 ${figures[2]} ms`,
    )
  }
}

function time(body: () => void): number {
  const start = performance.now()
  body()
  return performance.now() - start
}
