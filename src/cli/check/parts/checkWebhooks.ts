import {
  bareHost,
  createNetworkGuard,
  type NetworkGuard,
  resolveBySystem,
} from '../../../base/outbound/networkGuard.js'
import type { Config } from '../../../config/options.js'
import type { Database } from '../../../db/database.js'
import { activeReceiverUrls } from '../../../webhooks/receivers.js'
import { type Finding, reporterOf } from '../finding.js'

const report = reporterOf('webhooks')

/** The most URLs whose hosts are looked up. */
const MOST_URLS = 200

/** Whether what apps have registered may be called from here. Nothing is sent to it. */
export async function checkWebhooks(
  { webhookAllow }: Config,
  database: Database | undefined,
): Promise<Finding[]> {
  const guard = guardOf(webhookAllow)
  if (typeof guard === 'string') {
    const remedy = 'list host names and CIDR ranges, such as 10.1.0.0/16'
    return [report.fault(`webhookAllow: ${guard}`, remedy)]
  }
  if (database === undefined) return []
  const urls = await activeReceiverUrls(database, MOST_URLS)
  const refusals = await Promise.all(urls.map((url) => refusalOf(guard, new URL(url))))
  const closed = refusals.flatMap((refusal) => refusal ?? [])
  const open = urls.length - closed.length
  return [...closed, ...(open > 0 ? [report.ok(`${open} registered URLs may be called`)] : [])]
}

function guardOf(webhookAllow: readonly string[]): NetworkGuard | string {
  try {
    return createNetworkGuard(webhookAllow)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return error.message.replace(/\.$/, '')
  }
}

async function refusalOf(guard: NetworkGuard, url: URL): Promise<Finding | undefined> {
  const host = bareHost(url.hostname)
  const remedy = 'open it by webhookAllow, or let the app correct its URL'
  const refusal = guard.refuseUrl(url)
  if (refusal !== undefined) return report.warning(`${url.host}: ${withoutStop(refusal)}`, remedy)
  try {
    for (const { address } of await resolveBySystem(host)) {
      const closed = guard.refuseAddress(address, host)
      if (closed !== undefined) return report.warning(withoutStop(closed), remedy)
    }
    return undefined
  } catch {
    const correct = 'correct the DNS of this machine, or let the app correct its URL'
    return report.warning(`${host} cannot be resolved from here`, correct)
  }
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}
