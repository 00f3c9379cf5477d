import type { DevInfo } from '../../../src/cli/devInfo.js'

/** The operator's token with which a test starts the service, to read its metrics. */
export const metricsToken = 'an-operator-token-of-32-characters-or-more'

/** The sum of a counter over all its label sets that contain `labels`, such as `engine="inProcess"`. */
export async function counterOf(
  { url }: Pick<DevInfo, 'url'>,
  name: string,
  labels = '',
): Promise<number> {
  const headers = { authorization: `Bearer ${metricsToken}` }
  const text = await (await fetch(`${url}/metrics`, { headers })).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
