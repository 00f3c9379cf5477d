import { UnauthorizedError } from '../errors/restErrors.js'
import { tokenOf } from './admin/authenticate.js'
import type { Mount } from './createApp.js'
import { restError } from './rest/restError.js'

/** `/metrics` for Prometheus, which sends the operator's token as `authorization: Bearer`. */
export function mountMetrics(isOperator: (token: string) => boolean): Mount {
  return (app, door) => {
    app.get('/metrics', async (c) => {
      try {
        const { gate, metrics } = door
        const { ip } = c.get('caller')
        gate.enter(ip)
        const token = tokenOf(c) ?? ''
        gate.tryCredential(ip, token)
        if (!isOperator(token)) {
          gate.credentialWasWrong(ip)
          throw new UnauthorizedError("The operator's token is required")
        }
        gate.credentialWasRight(token)
        return c.body(await metrics.text(), 200, { 'content-type': metrics.contentType })
      } catch (thrown) {
        return restError(c, thrown, door)
      }
    })
  }
}
