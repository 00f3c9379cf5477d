import type { Context } from 'hono'
import { InvalidFieldError, UnauthorizedError } from '../base/errors/restErrors.js'
import { tokenOf } from './admin/authenticate.js'
import type { Env, Mount } from './createApp.js'
import { restError } from './restError.js'
import type { RouteContext } from './routeContext.js'
import type { Readiness, ReadinessQuestion, Services } from './services.js'

/**
 * `/health` and `/health/live`: the process runs. `/health/ready`: whether it can work, with the reasons;
 * with `?chain=` whether it serves that chain, with `?role=bundler` whether it can bundle. Anybody may ask; executors with their
 * balances, and the fee ceiling that bundles wait for, are for the operator's token.
 */
export function mountHealth({
  readiness,
  isOperator,
}: Pick<Services, 'readiness'> & {
  /** undefined = nobody is shown more: the administration has a listener of its own. */
  readonly isOperator: ((token: string) => boolean) | undefined
}): Mount {
  return (app, routing) => {
    app.on('GET', ['/health', '/health/live'], (c) => {
      routing.gate.enter(c.get('caller').ip)
      return c.json({ status: 'ok' })
    })
    app.get('/health/ready', async (c) => {
      try {
        const isStranger = isOperator === undefined || tokenOf(c) === undefined
        if (isStranger) routing.gate.enter(c.get('caller').ip)
        else requireOperator(c, isOperator, routing)
        const { ready, ...found } = await readiness(questionOf(c.req.query()))
        const shown = isStranger ? forStrangers(found) : found
        return c.json({ status: ready ? 'ok' : 'unavailable', ...shown }, ready ? 200 : 503)
      } catch (thrown) {
        return restError(c, thrown, routing)
      }
    })
  }
}

function questionOf({ chain, role = 'api' }: Readonly<Record<string, string>>): ReadinessQuestion {
  if (role !== 'api' && role !== 'bundler')
    throw new InvalidFieldError('role', 'must be api or bundler')
  if (chain !== undefined && !/^[1-9][0-9]{0,15}$/.test(chain))
    throw new InvalidFieldError('chain', 'must be a chain id')
  return { chainId: chain === undefined ? undefined : Number(chain), role }
}

function forStrangers({ roles, checks, reasons, alerts, chains }: Omit<Readiness, 'ready'>) {
  const needs =
    alerts.length === 0 ? [] : ["Something needs attention; the operator's token shows what."]
  const open = Object.entries(chains).map(([id, chain]) => {
    const { executors: _, waits: __, ...shown } = chain
    return [id, shown]
  })
  return { roles, checks, reasons: [...reasons, ...needs], chains: Object.fromEntries(open) }
}

/** `/metrics` for Prometheus, which sends the operator's token as `authorization: Bearer`. */
export function mountMetrics(isOperator: (token: string) => boolean): Mount {
  return (app, routing) => {
    app.get('/metrics', async (c) => {
      try {
        requireOperator(c, isOperator, routing)
        const { metrics } = routing
        return c.body(await metrics.text(), 200, { 'content-type': metrics.contentType })
      } catch (thrown) {
        return restError(c, thrown, routing)
      }
    })
  }
}

/** Requires the operator's token. Throws UnauthorizedError, RateLimitError. */
function requireOperator(
  c: Context<Env>,
  isOperator: (token: string) => boolean,
  { gate }: RouteContext,
): void {
  const { ip } = c.get('caller')
  gate.enter(ip)
  const token = tokenOf(c) ?? ''
  gate.tryCredential(ip, token)
  if (!isOperator(token)) {
    gate.credentialWasWrong(ip)
    throw new UnauthorizedError("The operator's token is required")
  }
  gate.credentialWasRight(token)
}
