import { accountId } from '../../api/call.js'
import { adminUrl } from '../../api/site.js'
import { toast } from '../../parts/toasts.js'

/** Saves what a route answers as a file. */
export async function download(path: string, name: string): Promise<void> {
  const account = accountId.peek()
  try {
    const answer = await fetch(`${adminUrl}${path}`, {
      headers: account === undefined ? {} : { 'purser-account': account },
      credentials: 'same-origin',
    })
    if (!answer.ok) throw new Error(`The service answered ${answer.status}`)
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await answer.blob())
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    toast(`Saved ${name}`)
  } catch (error) {
    toast((error as Error).message)
  }
}
