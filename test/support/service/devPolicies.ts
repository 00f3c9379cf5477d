import type { DevInfo } from '../../../src/cli/devInfo.js'

/** Creates a policy of the development app by the admin API; the returned function deletes it. */
export async function createDevPolicy(
  info: DevInfo,
  name: string,
  terms: object = {},
): Promise<() => Promise<void>> {
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${info.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${info.authToken}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Record<string, never>
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  const { items } = await ask('GET', '/apps')
  const { id: appId } = (items as readonly { name: string; id: string }[] | undefined)?.find(
    (app) => app.name === 'development',
  ) ?? { id: undefined }
  const { policyId } = await ask('POST', '/policies', { appId, name, terms })
  return async () => {
    await ask('DELETE', `/policies/${policyId}`)
  }
}
