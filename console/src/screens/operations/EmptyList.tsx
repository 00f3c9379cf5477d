import { useQuery } from '../../api/query.js'
import type { Explanation } from '../../api/shapes.js'
import { Empty } from '../../parts/Empty.js'
import { hrefOf, place } from '../../router.js'
import { Remedy } from './Remedy.js'
import type { View } from './views.js'

const texts: Readonly<Record<View['view'], readonly [title: string, text: string]>> = {
  '': [
    'Waiting for your first operation',
    'Each operation that an app sends appears here by itself, with its result.',
  ],
  'in-flight': ['Nothing is in flight', 'Operations stand here from their acceptance to a block.'],
  included: ['Nothing was included yet', 'Operations that are in a block and succeeded.'],
  failed: [
    'Nothing failed',
    'Operations that are in a block and whose call reverted, with the reason.',
  ],
  dropped: [
    'Nothing was dropped',
    'Operations that left the pool without a block, with the reason.',
  ],
  refused: [
    'Nothing was refused',
    'Requests that were answered with an error: what was asked, why it was refused, what to do.',
  ],
  'not-sponsored': [
    'No sponsorship was refused',
    'Sponsorships that a policy, a budget, a tank or a webhook refused, with the numbers.',
  ],
}

/** What would stand in an empty list. */
export function EmptyList({
  view,
  isFiltered,
}: {
  readonly view: View
  readonly isFiltered: boolean
}) {
  const [title, text] = texts[view.view]
  const isTabOnly = !isFiltered || location.search === `?view=${view.view}`
  const code = place.value.search.get('code') ?? place.value.search.get('rule')
  if (!isTabOnly && code !== null)
    return <NothingOf code={code} hrefOfAll={hrefOf('operations', { view: view.view })} />
  if (!isTabOnly)
    return (
      <Empty title="Nothing matches these filters">
        <p>
          <a href={hrefOf('operations', { view: view.view })}>Clear filters</a>
        </p>
      </Empty>
    )
  return (
    <Empty title={title}>
      <p>{text}</p>
      {view.view === '' && (
        <p>
          <a href={hrefOf('start')}>Addresses and a first operation to copy</a>
        </p>
      )}
    </Empty>
  )
}

type NothingOfProps = { readonly code: string; readonly hrefOfAll: string }

/** Nothing has this code: explains it anyway, for users who met it elsewhere. */
function NothingOf({ code, hrefOfAll }: NothingOfProps) {
  const { data } = useQuery<Explanation>('/explain', { code })
  return (
    <>
      {data !== undefined && <Remedy code={data.code} message={null} explanation={data} />}
      <Empty title="Nothing matches these filters">
        <p>
          <a href={hrefOfAll}>Clear filters</a>
        </p>
      </Empty>
    </>
  )
}
