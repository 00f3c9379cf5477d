import { signal } from '@preact/signals'

/** The present time to the second, for ages; Unix milliseconds. */
export const now = signal(Date.now())

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now()
}, 1_000)
