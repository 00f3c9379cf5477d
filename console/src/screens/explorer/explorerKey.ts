import { computed, signal } from '@preact/signals'
import { accountId } from '../../api/call.js'
import { session } from '../../api/session.js'
import { now } from '../../parts/clock.js'

/** A key with the time at which it ends, Unix milliseconds. */
type EndingKey = { readonly key: string; readonly endsAt: number }

/** The key that the explorer made, until the tab is closed, the session ends or another account is chosen. */
export const madeKey = signal<EndingKey | undefined>(undefined)

/** The same while it is good. */
export const explorerKey = computed(() => {
  const made = madeKey.value
  return made !== undefined && now.value < made.endsAt ? made.key : undefined
})

for (const owner of [accountId, session])
  owner.subscribe(() => {
    madeKey.value = undefined
  })
