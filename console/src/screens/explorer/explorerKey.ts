import { signal } from '@preact/signals'
import { accountId } from '../../api/call.js'

/** The key that the explorer made, until the tab is closed or another account is chosen. */
export const explorerKey = signal<string | undefined>(undefined)

accountId.subscribe(() => {
  explorerKey.value = undefined
})
