import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createStateLog } from './stateLog.js'

test('each change of state is one line, with the reason of the first attempt', () => {
  const lines: string[] = []
  const logger = pino({ base: null }, { write: (line) => lines.push(line) })
  const state = createStateLog(logger, 'away', 'back')
  state.back()
  for (const reason of ['first', 'second', 'third']) state.away({ reason })
  state.back()
  state.back()
  state.away({ reason: 'later' })
  const said = lines.map((line) => JSON.parse(line) as { msg: string; reason?: string })
  expect(said.map(({ msg, reason }) => [msg, reason])).toEqual([
    ['away', 'first'],
    ['back', undefined],
    ['away', 'later'],
  ])
})
