/** `purser/admin`: the typed client of the administration API, for browsers and Node. */
export { AdminError } from './adminError.js'
export {
  type AdminAnswer,
  type AdminClient,
  type AdminClientOptions,
  type AdminLinesName,
  type AdminRequest,
  type AdminRouteName,
  createAdminClient,
} from './createAdminClient.js'
