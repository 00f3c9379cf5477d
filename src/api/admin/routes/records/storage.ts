import { contracts } from '../../../../admin/contracts.js'
import { tableSizes } from '../../../../store/records/tableSizes.js'
import { type Route, serve } from '../../route.js'

export const storageRoutes: readonly Route[] = serve(contracts.storage)({
  async 'GET /storage'({ context }) {
    const sizes = await tableSizes(context.database)
    return { items: sizes.map(({ rows = null, ...size }) => ({ ...size, rows })) }
  },
})
