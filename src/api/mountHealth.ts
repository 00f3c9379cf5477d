import { tokenOf } from './admin/authenticate.js'
import type { Mount } from './createApp.js'
import { requireOperator } from './requireOperator.js'
import { restError } from './rest/restError.js'
import type { Readiness, Services } from './services.js'

/**
 * `/health` and `/health/live`: the process runs. `/health/ready`: whether it can work, with the reasons.
 * Anybody may ask; addresses and balances of executors are for the operator's token.
 */
export function mountHealth({
  readiness,
  isOperator,
}: Pick<Services, 'readiness' | 'isOperator'>): Mount {
  return (app, door) => {
    app.on('GET', ['/health', '/health/live'], (c) => c.json({ status: 'ok' }))
    app.get('/health/ready', async (c) => {
      try {
        const isStranger = tokenOf(c) === undefined
        if (!isStranger) requireOperator(c, isOperator, door)
        const { ready, ...found } = await readiness()
        const shown = isStranger ? withoutExecutors(found) : found
        return c.json({ status: ready ? 'ok' : 'unavailable', ...shown }, ready ? 200 : 503)
      } catch (thrown) {
        return restError(c, thrown, door)
      }
    })
  }
}

function withoutExecutors({ checks, reasons, alarms, chains }: Omit<Readiness, 'ready'>) {
  const needs =
    alarms.length === 0 ? [] : ["Executors need money; the operator's token shows more."]
  const open = Object.entries(chains).map(([id, { executors: _, ...chain }]) => [id, chain])
  return { checks, reasons: [...reasons, ...needs], chains: Object.fromEntries(open) }
}
