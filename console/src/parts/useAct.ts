import { useSignal } from '@preact/signals'

/** An act that takes a while: whether it runs, and the message of what the last one threw. */
export function useAct() {
  const isBusy = useSignal(false)
  const trouble = useSignal<string | undefined>(undefined)
  return {
    isBusy: isBusy.value,
    trouble: trouble.value,
    /** Does it, unless it runs already. */
    run: async (act: () => Promise<void>): Promise<void> => {
      if (isBusy.peek()) return
      isBusy.value = true
      trouble.value = undefined
      try {
        await act()
      } catch (error) {
        trouble.value = (error as Error).message
      }
      isBusy.value = false
    },
  }
}
