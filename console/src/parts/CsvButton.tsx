import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { grouped } from './format.js'
import { type FileFormat, saveList } from './saveFile.js'

type CsvButtonProps = {
  /** The list of the API. */
  readonly path: string
  /** The name of the file without its ending; absent = that of the list. */
  readonly name?: string
  readonly query?: Readonly<Record<string, string | undefined>>
  /** Whether the API gives it in pages, of a size that the caller chooses: it may be long. */
  readonly isPaged?: true
}

const formats = [
  ['csv', 'Save this list for a spreadsheet'],
  ['ndjson', 'Save this list, one JSON document a line'],
] as const

type Running = { readonly rows: number; readonly abort: AbortController }

/** Saves a list with its filters for a spreadsheet, or a long one for a program; shows how far it is, and stops. */
export function CsvButton({ path, query = {}, isPaged, ...of }: CsvButtonProps) {
  const { name = path.slice(path.lastIndexOf('/') + 1) } = of
  const running = useSignal<Running | undefined>(undefined)
  useEffect(() => () => running.peek()?.abort.abort(), [])
  const save = async (format: FileFormat) => {
    const abort = new AbortController()
    const onRows = (rows: number) => {
      running.value = { rows, abort }
    }
    onRows(0)
    await saveList({ path, query, isPaged: isPaged === true, name, format }, abort.signal, onRows)
    running.value = undefined
  }
  if (running.value !== undefined) {
    const { rows, abort } = running.value
    return (
      <button type="button" class="as-code" title="Stop saving" onClick={() => abort.abort()}>
        {grouped(rows)} rows · stop
      </button>
    )
  }
  return (
    <>
      {(isPaged ? formats : formats.slice(0, 1)).map(([format, title]) => (
        <button
          key={format}
          type="button"
          class="as-code"
          title={title}
          onClick={() => save(format)}
        >
          {format.toUpperCase()}
        </button>
      ))}
    </>
  )
}
