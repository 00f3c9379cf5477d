import { go, hrefOf, searchWith } from '../../router.js'
import { ranges } from './views.js'
import { Options } from '../../parts/Options.js'

/** How far back the lists go; it stands in the address. */
export function RangeChoice({ range }: { readonly range: string | null }) {
  return (
    <select
      aria-label="Time range"
      value={range ?? ''}
      onChange={(event) =>
        go(hrefOf('operations', searchWith({ range: event.currentTarget.value || undefined })))
      }
    >
      <Options of={ranges.map(({ name, text }) => [name, text])} />
    </select>
  )
}
