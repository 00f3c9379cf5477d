import type { DevInfo } from '../../../src/cli/devInfo.js'
import type { Json } from '../http/jsonRpc.js'

/** A key of a new app, made over the administration API of a running `purser dev`, and its URL. */
export async function createKey(
  info: Pick<DevInfo, 'url' | 'authToken' | 'apiKey' | 'standardUrl'>,
  name: string,
): Promise<string> {
  const post = async (path: string): Promise<Json> => {
    const response = await fetch(`${info.url}/admin/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${info.authToken}` },
      body: JSON.stringify({ name }),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const app = await post('apps')
  const { apiKey } = await post(`apps/${app.id}/keys`)
  return info.standardUrl.replace(info.apiKey, apiKey)
}
