import { keyRoutesOf } from '../../../tenants/keys.js'
import { methodNames } from '../../methods/methodList.js'

/** The keys of an app, which can be limited to any method that this service answers. */
export const keyRoutes = keyRoutesOf(methodNames)
