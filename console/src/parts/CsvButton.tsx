import { useSignal } from '@preact/signals'
import { saveList } from './saveFile.js'

type CsvButtonProps = {
  /** The list of the API, and the name of the file without its ending. */
  readonly path: string
  readonly name: string
  readonly query?: Readonly<Record<string, string | undefined>>
  /** Whether the API lets the caller choose the size of its pages. */
  readonly isPaged?: true
}

/** Saves a list with its filters for a spreadsheet. */
export function CsvButton({ path, name, query = {}, isPaged }: CsvButtonProps) {
  const isBusy = useSignal(false)
  return (
    <button
      type="button"
      class="as-code"
      disabled={isBusy.value}
      title="Save this list for a spreadsheet"
      onClick={async () => {
        isBusy.value = true
        await saveList(path, query, isPaged === true, `${name}.csv`)
        isBusy.value = false
      }}
    >
      CSV
    </button>
  )
}
