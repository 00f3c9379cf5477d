import { expect } from 'vitest'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { expectDocumented } from '../http/documented.js'
import type { Json } from '../http/jsonRpc.js'

/** A path of `/admin/v1` that the running service must answer, asked with the account's token. */
export async function adminGet(
  { url, authToken }: Pick<DevInfo, 'url' | 'authToken'>,
  path: string,
): Promise<Json> {
  const headers = { authorization: `Bearer ${authToken}` }
  const answer = await fetch(`${url}/admin/v1${path}`, { headers })
  expect(answer.status).toBe(200)
  const body: Json = await answer.json()
  expectDocumented({ method: 'GET', path }, { status: answer.status, body })
  return body
}
