import type { Mount } from './createApp.js'
import { requireOperator } from './requireOperator.js'
import { restError } from './rest/restError.js'

/** `/metrics` for Prometheus, which sends the operator's token as `authorization: Bearer`. */
export function mountMetrics(isOperator: (token: string) => boolean): Mount {
  return (app, door) => {
    app.get('/metrics', async (c) => {
      try {
        requireOperator(c, isOperator, door)
        const { metrics } = door
        return c.body(await metrics.text(), 200, { 'content-type': metrics.contentType })
      } catch (thrown) {
        return restError(c, thrown, door)
      }
    })
  }
}
