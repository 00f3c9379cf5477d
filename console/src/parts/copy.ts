import { toast } from './toasts.js'

/** Copies text and says so. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(`Copied ${what}`)
  } catch {
    toast(`The browser did not let us copy ${what}`)
  }
}
