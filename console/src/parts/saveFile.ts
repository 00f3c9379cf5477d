import { accountId, call } from '../api/call.js'
import type { Page } from '../api/shapes.js'
import { adminUrl } from '../api/site.js'
import { csvOf, namesOf, ndjsonOf } from './csv.js'
import { grouped } from './format.js'
import { toast } from './toasts.js'

type Rows = readonly Readonly<Record<string, unknown>>[]

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

export type FileFormat = 'csv' | 'ndjson'

type SavedList = {
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  readonly isPaged: boolean
  /** Without its ending. */
  readonly name: string
  readonly format: FileFormat
}

/** Saves all pages of a list, of which the script holds one at a time: the browser keeps the parts of a file. */
export async function saveList(
  { path, query, isPaged, name, format }: SavedList,
  signal: AbortSignal,
  onRows: (count: number) => void,
): Promise<void> {
  const parts: Blob[] = []
  let names: readonly string[] = []
  let count = 0
  let before: string | undefined
  try {
    do {
      const page = { ...query, ...(isPaged && { limit: '200' }), before }
      const { items, next } = await call<Page<Rows[number]>>('GET', path, { query: page, signal })
      if (count === 0) names = namesOf(items)
      const text = format === 'csv' ? csvOf(items, names, count === 0) : ndjsonOf(items)
      // A page may be empty while older ones are not.
      if (items.length > 0) parts.push(new Blob([text]))
      count += items.length
      before = next
      onRows(count)
    } while (before !== undefined)
    save(new Blob(parts, { type: `text/${format}` }), `${name}.${format}`)
    toast(`Saved ${grouped(count)} rows as ${name}.${format}`)
  } catch (error) {
    toast(signal.aborted ? `Stopped: ${name}.${format} is not saved` : (error as Error).message)
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
