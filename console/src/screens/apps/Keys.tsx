import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import type { App, Key, Page, ShownKey } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Age } from '../../parts/Age.js'
import { now } from '../../parts/clock.js'
import { Empty } from '../../parts/Empty.js'
import { ListActs } from '../../parts/ListActs.js'
import { LoadedRows } from '../../parts/LoadedRows.js'
import type { Column } from '../../parts/Table.js'
import { useOpen, useShown } from '../../parts/useOpen.js'
import { go, hrefOf } from '../../router.js'
import { KeyForm, keyOfForm } from './KeyForm.js'
import { KeyPanel } from './KeyPanel.js'
import { KeyTag } from './KeyTag.js'
import { keyStateOf } from './keyState.js'
import { NewKey } from './NewKey.js'

function columnsOf(keys: readonly Key[]): readonly Column<Key>[] {
  return [
    { name: 'Key', cell: ({ name }) => <strong>{name}</strong> },
    { name: 'Ends with', cell: ({ last4 }) => <code>…{last4}</code> },
    { name: 'State', cell: (key) => <KeyTag of={key} among={keys} /> },
    { name: 'For', shown: 'wide', cell: ({ scopes }) => scopes.join(', ') },
    { name: 'Limited by', shown: 'wide', cell: limitsOf },
    {
      name: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Age at={lastUsedAt} />),
    },
  ]
}

/** Which limits a key has, in words. */
function limitsOf({ methods, allowedOrigins, allowedIps, quotas }: Key): string {
  const names = [
    methods && 'methods',
    allowedOrigins && 'origins',
    allowedIps && 'addresses',
    quotas && Object.keys(quotas).length > 0 && 'requests',
  ].filter(Boolean)
  return names.length === 0 ? 'nothing' : names.join(', ')
}

type KeysProps = { readonly app: App; readonly openId: string | undefined }

/** The keys of an app, and the open one. */
export function Keys({ app, openId }: KeysProps) {
  const path = `/apps/${app.id}/keys`
  const query = useQuery<Page<Key>>(path)
  const making = useOpen()
  const secret = useShown<ShownKey>()
  const keys = query.data?.items ?? []
  const open = keys.find(({ id }) => id === openId)
  const hrefFor = ({ id }: Key) => hrefOf(`apps/${app.id}/keys/${id}`)
  const show = (made: ShownKey) => {
    secret.show(made)
    query.refresh()
  }
  return (
    <div class={open === undefined ? 'split' : 'split is-open'}>
      <section class="card flush side-list" aria-label="Keys">
        <div class="card-head">
          <h2>Keys</h2>
          <ListActs path={path} title="Keys as code" command={`purser key list --app ${app.id}`} />
          <ActButton needs="developer" look="primary" onClick={making.open}>
            New key
          </ActButton>
        </div>
        <LoadedRows
          query={query}
          lines={3}
          label="Keys"
          columns={columnsOf(keys)}
          keyOf={({ id }) => id}
          hrefOf={hrefFor}
          openKey={openId}
          isOver={(key) => keyStateOf(key, keys, now.value).kind === 'ended'}
          empty={
            <Empty title="No key yet">
              <p>A dApp uses a key in its URL. Without one nothing can be sent.</p>
            </Empty>
          }
        />
      </section>
      {open !== undefined && (
        <aside class="panel" aria-label="Key">
          <KeyPanel
            key={open.id}
            of={open}
            among={keys}
            onChanged={query.refresh}
            onShown={show}
            onClose={() => go(hrefOf(`apps/${app.id}`))}
          />
        </aside>
      )}
      {making.isOpen && (
        <ActionDialog
          title={`New key of ${app.name}`}
          act="Create the key"
          codes={[
            ['curl', curl(path, 'POST', { name: 'NAME', scopes: ['bundler', 'paymaster'] })],
            ['command', `purser key create --app ${app.id} --name NAME`],
          ]}
          run={async (form) => show(await call<ShownKey>('POST', path, { body: keyOfForm(form) }))}
          onClose={making.close}
        >
          <KeyForm />
        </ActionDialog>
      )}
      {secret.shown !== undefined && <NewKey made={secret.shown} onClose={secret.hide} />}
    </div>
  )
}
