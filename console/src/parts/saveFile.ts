import { accountId, call } from '../api/call.js'
import type { Page } from '../api/shapes.js'
import { adminUrl } from '../api/site.js'
import { csvOf } from './csv.js'
import { grouped } from './format.js'
import { toast } from './toasts.js'

type Rows = readonly Readonly<Record<string, unknown>>[]

/** Rows of a list that one file holds at most. */
const MOST_ROWS = 10_000

function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** Saves rows for a spreadsheet. */
export function saveCsv(rows: Rows, name: string): void {
  save(new Blob([csvOf(rows)], { type: 'text/csv' }), name)
  toast(`Saved ${grouped(rows.length)} rows as ${name}`)
}

/** Saves a text as it is. */
export function saveText(text: string, name: string): void {
  save(new Blob([text]), name)
  toast(`Saved ${name}`)
}

/** Saves all pages of a list for a spreadsheet; of a longer one the first 10,000 rows, and says so. */
export async function saveList(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  isPaged: boolean,
  name: string,
): Promise<void> {
  const rows: Rows[number][] = []
  let before: string | undefined
  try {
    do {
      const page = { ...query, ...(isPaged && { limit: '200' }), before }
      const { items, next } = await call<Page<Rows[number]>>('GET', path, { query: page })
      rows.push(...items)
      before = next
    } while (before !== undefined && rows.length < MOST_ROWS)
    saveCsv(rows, name)
    if (before !== undefined) toast(`There are more than ${grouped(MOST_ROWS)}: filter the list`)
  } catch (error) {
    toast((error as Error).message)
  }
}

/** Saves what a route answers as a file. */
export async function saveAnswer(path: string, name: string): Promise<void> {
  const account = accountId.peek()
  try {
    const answer = await fetch(`${adminUrl}${path}`, {
      headers: account === undefined ? {} : { 'purser-account': account },
      credentials: 'same-origin',
    })
    if (!answer.ok) throw new Error(`The service answered ${answer.status}`)
    save(await answer.blob(), name)
    toast(`Saved ${name}`)
  } catch (error) {
    toast((error as Error).message)
  }
}
