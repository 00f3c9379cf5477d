import { accountId, call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { coinsOfAll, usdOfAll } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import { mayAct } from '../../api/role.js'
import type { App, ListedApp, Page, Spend, Tank } from '../../api/shapes.js'
import { useKeys } from '../../keys.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Age } from '../../parts/Age.js'
import { Empty } from '../../parts/Empty.js'
import { Field } from '../../parts/Field.js'
import { grouped, usdText } from '../../parts/format.js'
import { ListActs } from '../../parts/ListActs.js'
import { LoadedRows } from '../../parts/LoadedRows.js'
import { NoAccount } from '../../parts/NoAccount.js'
import type { Column } from '../../parts/Table.js'
import { go, hrefOf, place } from '../../router.js'
import { monthsUntil, spanOfMonth } from '../spending/spending.js'
import { byUrgency, Lasts } from '../tanks/Level.js'
import { AppPage } from './AppPage.js'
import './apps.css'
import { useOpen } from '../../parts/useOpen.js'
import { quotasOf } from './quotasOf.js'

/** The apps of the account, or the one of the address: `apps`, `apps/APP`, `apps/APP/keys/KEY`. */
export function Apps() {
  const [, appId, , keyId] = place.value.path.split('/')
  if (accountId.value === undefined) return <NoAccount />
  return appId === undefined ? <AppList /> : <AppPage key={appId} appId={appId} keyId={keyId} />
}

/**
 * @param spend - the lines of this month; undefined = not known yet
 * @param tanks - those of all apps; undefined = not known yet
 */
function columnsOf(
  spend: readonly Spend[] | undefined,
  tanks: readonly Tank[] | undefined,
): readonly Column<ListedApp>[] {
  const ofApp = ({ id }: App) => spend?.filter(({ appId }) => appId === id) ?? []
  const sponsored = (app: App) => ofApp(app).reduce((sum, each) => sum + Number(each.operations), 0)
  return [
    { name: 'App', cell: ({ name }) => <strong>{name}</strong> },
    {
      name: 'Sponsored this month',
      isNumber: true,
      cell: (app) => spend && grouped(sponsored(app)),
    },
    { name: 'Spent', isNumber: true, cell: (app) => spend && spentText(ofApp(app)) },
    {
      name: 'Tank',
      shown: 'wide',
      isNumber: true,
      cell: ({ id }) => tanks && <TankState tanks={tanks.filter(({ appId }) => appId === id)} />,
    },
    {
      name: 'Last used',
      shown: 'wide',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Age at={lastUsedAt} />),
    },
    { name: 'Requests', shown: 'wide', cell: ({ quotas }) => quotasOf(quotas) },
    { name: 'Created', shown: 'wide', cell: ({ createdAt }) => <Age at={createdAt} /> },
  ]
}

/** The most urgent of an app's tanks. */
function TankState({ tanks }: { readonly tanks: readonly Tank[] }) {
  const [first] = [...tanks].sort(byUrgency)
  return first === undefined ? <span class="muted">none</span> : <Lasts tank={first} />
}

function spentText(lines: readonly Spend[]): string {
  const usd = usdOfAll(lines)
  if (lines.length === 0) return '0'
  return usd === undefined ? coinsOfAll(lines) : usdText(usd)
}

function AppList() {
  const apps = useQuery<Page<ListedApp>>('/apps')
  const tanks = useQuery<Page<Tank>>('/tanks')
  const [month = ''] = monthsUntil(new Date(), 1)
  const { from, until } = spanOfMonth(month)
  const days = { from: from.toISOString(), until: until.toISOString() }
  const spend = useQuery<Page<Spend>>('/spend', days)
  const making = useOpen()
  useKeys('Apps', mayAct('admin') ? { n: ['new app', making.open] } : {})
  const pathOf = ({ id }: App) => `apps/${id}`
  return (
    <div class="screen">
      <div class="row">
        <h1>Apps and keys</h1>
        <span class="grow" />
        <ListActs path="/apps" title="Apps as code" command="purser app list" />
        <ActButton needs="admin" look="primary" onClick={making.open}>
          New app
        </ActButton>
      </div>
      <section class="card flush" aria-label="Apps">
        <LoadedRows
          query={apps}
          lines={4}
          label="Apps"
          columns={columnsOf(spend.data?.items, tanks.data?.items)}
          shown={(all) => all.filter(({ revokedAt }) => revokedAt === null)}
          keyOf={({ id }) => id}
          hrefOf={(app) => hrefOf(pathOf(app))}
          empty={
            <Empty title="No app yet">
              <p>
                An app is what your users see: a dApp, a game, a shop. It has keys, policies and
                tanks of its own.
              </p>
            </Empty>
          }
        />
      </section>
      <Ended apps={apps.data?.items.filter(({ revokedAt }) => revokedAt !== null) ?? []} />
      {making.isOpen && (
        <ActionDialog
          title="New app"
          act="Create the app"
          codes={[
            ['curl', curl('/apps', 'POST', { name: 'NAME' })],
            ['command', `purser app create --account ${accountId.value} --name NAME`],
          ]}
          run={async (form) => {
            const app = await call<App>('POST', '/apps', { body: { name: form.get('name') } })
            apps.refresh()
            go(hrefOf(pathOf(app)))
          }}
          onClose={making.close}
        >
          <Field label="Name" hint="For people: wallets show it only where you say so.">
            <input name="name" required maxLength={100} autocomplete="off" />
          </Field>
        </ActionDialog>
      )}
    </div>
  )
}

/** Apps that ended: their records stay, under Operations. */
function Ended({ apps }: { readonly apps: readonly App[] }) {
  if (apps.length === 0) return null
  return (
    <details class="card">
      <summary>{apps.length === 1 ? '1 app has ended' : `${apps.length} apps have ended`}</summary>
      <ul class="ended">
        {apps.map(({ id, name, revokedAt }) => (
          <li key={id}>
            <a href={hrefOf('operations', { appId: id })}>{name}</a>
            {revokedAt !== null && (
              <span class="muted">
                ended <Age at={revokedAt} /> ago
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}
