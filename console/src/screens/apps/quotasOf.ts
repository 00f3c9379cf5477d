import type { App } from '../../api/shapes.js'

/** Limits of requests in words. */
export function quotasOf(quotas: App['quotas']): string {
  const { perSecond, perMinute, perDay } = quotas ?? {}
  const parts = [
    [perSecond, 'a second'],
    [perMinute, 'a minute'],
    [perDay, 'a day'],
  ].flatMap(([count, unit]) => (count === undefined ? [] : [`${count} ${unit}`]))
  return parts.length === 0 ? 'no limit' : parts.join(', ')
}
