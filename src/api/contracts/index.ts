/** `purser/admin`: the typed client of the administration API, for browsers and Node. */
export {
  type AdminAnswer,
  type AdminClient,
  type AdminClientOptions,
  AdminError,
  type AdminLinesName,
  type AdminRequest,
  type AdminRouteName,
  createAdminClient,
} from './createAdminClient.js'
