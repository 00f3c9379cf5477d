import { now } from './clock.js'
import { momentOf, spanOf } from './format.js'

/** The time since something happened, to the second; the exact time is its title. */
export function Age({ at }: { readonly at: string }) {
  const age = Math.max(0, now.value - Date.parse(at))
  return (
    <time class="age" dateTime={at} title={momentOf(at)}>
      {age < 1_000 ? 'now' : spanOf(Math.floor(age / 1_000) * 1_000).replace('.0', '')}
    </time>
  )
}
