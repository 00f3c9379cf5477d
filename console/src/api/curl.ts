import type { Method } from './call.js'
import { adminUrl } from './site.js'

/** A request to the administration API for a shell, with the token as $PURSER_TOKEN. */
export function curl(path: string, method: Method = 'GET', body?: unknown): string {
  const verb = method === 'GET' ? '' : ` -X ${method}`
  const head = `curl -s${verb} '${adminUrl}${path}' \\\n  -H "authorization: Bearer $PURSER_TOKEN"`
  if (body === undefined) return head
  const json = JSON.stringify(body).replaceAll("'", "'\\''")
  return `${head} \\\n  -H 'content-type: application/json' \\\n  -d '${json}'`
}
