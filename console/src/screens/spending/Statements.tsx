import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { appName } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import type { App, Page, Statement } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Field } from '../../parts/Field.js'
import { momentOf } from '../../parts/format.js'
import { Options } from '../../parts/Options.js'
import { type Column, Table } from '../../parts/Table.js'
import { useOpen } from '../../parts/useOpen.js'
import { go, hrefOf } from '../../router.js'
import { Paged } from '../operations/Paged.js'
import { useList } from '../operations/useList.js'
import { spanOfMonth } from './spending.js'

const columns: readonly Column<Statement>[] = [
  { name: 'App', cell: ({ id, appId }) => <a href={hrefOf(`spending/${id}`)}>{appName(appId)}</a> },
  { name: 'From', cell: ({ from }) => momentOf(from) },
  { name: 'Until', cell: ({ until }) => momentOf(until) },
  { name: 'Made', shown: 'wide', cell: ({ createdAt }) => momentOf(createdAt) },
]

const keyOf = ({ id }: Statement) => id

/** The signed statements, and one more of a month. */
export function Statements({ month }: { readonly month: string }) {
  const list = useList<Statement>('/statements', {}, keyOf, () => false)
  const apps = useQuery<Page<App>>('/apps').data?.items ?? []
  const making = useOpen()
  const { from, until } = spanOfMonth(month)
  const body = { from: from.toISOString(), until: until.toISOString() }
  return (
    <section aria-label="Statements">
      <div class="row">
        <h2>Statements</h2>
        <span class="grow" />
        {apps.length > 0 && (
          <ActButton needs="admin" onClick={making.open}>
            Sign {month}
          </ActButton>
        )}
      </div>
      <p class="muted">
        What an app spent between two times, by the time of its blocks, once they are final. Signed
        with the key of this instance.
      </p>
      <Paged list={list} lines={2} empty={null}>
        {(rows) => (
          <div class="list">
            <Table label="Statements" columns={columns} rows={rows} keyOf={keyOf} />
          </div>
        )}
      </Paged>
      {making.isOpen && (
        <ActionDialog
          title={`Statement of ${month}`}
          act="Sign it"
          codes={[['curl', curl('/apps/APP/statements', 'POST', body)]]}
          run={async (form) => {
            const path = `/apps/${form.get('app')}/statements`
            const { id } = await call<Statement>('POST', path, { body })
            go(hrefOf(`spending/${id}`))
          }}
          onClose={making.close}
        >
          <Field label="App">
            <select name="app">
              <Options of={apps.map(({ id, name }) => [id, name])} />
            </select>
          </Field>
        </ActionDialog>
      )}
    </section>
  )
}
