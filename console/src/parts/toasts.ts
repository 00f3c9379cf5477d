import { signal } from '@preact/signals'

/** A line that says what was done, for some seconds. */
export type Toast = { readonly id: number; readonly text: string }

const LIFE = 4_000
let last = 0

export const toasts = signal<readonly Toast[]>([])

export function toast(text: string): void {
  last += 1
  const id = last
  toasts.value = [...toasts.value.slice(-2), { id, text }]
  setTimeout(() => {
    toasts.value = toasts.value.filter((each) => each.id !== id)
  }, LIFE)
}
