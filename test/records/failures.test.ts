import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FailureWorld, openFailureWorld } from '../support/failures/failureWorld.js'
import { type HostileParts, hostileParts } from '../support/failures/hostileParts.js'
import { preparedFailures } from '../support/failures/preparedFailures.js'
import type { Json } from '../support/http/jsonRpc.js'

const OPERATOR_TOKEN = 'operator-of-the-twenty-failures-0123'

/** All that an answer says in words, a line each. */
function textsOf(answer: Json): string {
  const { message, reason, timeline = [], webhookCalls = [] } = answer
  const entries = timeline.map(({ message: said, revert, actualGasCost }: Json) =>
    [said, revert, actualGasCost && `actualGasCost ${actualGasCost}`].filter(Boolean).join('\n'),
  )
  const calls = webhookCalls.map(
    ({ outcome, httpStatus, reason: said, durationMs }: Json) =>
      `${outcome} ${httpStatus} ${said} ${Math.ceil(durationMs)} ms`,
  )
  return [message, reason, ...entries, ...calls].filter(Boolean).join('\n')
}

describe('a failure is explained by one answer', () => {
  let world: FailureWorld
  let parts: HostileParts

  beforeAll(async () => {
    world = await openFailureWorld(41_337, { PURSER_OPERATOR_TOKEN: OPERATOR_TOKEN })
    parts = await hostileParts(world)
  })
  afterAll(() => world?.stop())

  test('there are twenty of them', () => {
    expect(new Set(preparedFailures.map(({ name }) => name)).size).toBe(20)
  })

  test.each(preparedFailures)('$name', async ({ prepare, code, says, step }) => {
    const { path, command } = await prepare(world, parts)
    const answer = await world.admin('GET', path)
    for (const fact of says) expect(textsOf(answer)).toMatch(fact)
    const explanation = answer.explanation ?? answer
    expect(explanation.code).toBe(code)
    expect(explanation.steps.join('\n')).toMatch(step)

    const { meaning, steps } = explanation
    if (command === undefined) return
    const printed = await world.serving.commands.answer(...command)
    for (const text of [code, meaning, ...steps]) expect(printed).toContain(text)
    for (const fact of says) if (!fact.multiline) expect(printed).toMatch(fact)
  })

  test('a stranger with an unknown key is nobody, and the operator has the count', async () => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    const metrics = await (await fetch(`${world.info.url}/metrics`, { headers })).text()
    expect(metrics).toMatch(/^purser_rpc_calls_total\{method="unknown",code="-32001"\} [1-9]/m)
  })
})
