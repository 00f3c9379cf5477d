import { accountId, pathOf } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { nameOf } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import { mayAct } from '../../api/role.js'
import { session } from '../../api/session.js'
import type { AuditEntry, AuthToken, Member, Page, User } from '../../api/shapes.js'
import { Age } from '../../parts/Age.js'
import { AsCodeButton } from '../../parts/AsCodeButton.js'
import { CsvButton } from '../../parts/CsvButton.js'
import { Empty } from '../../parts/Empty.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { FilterChip, FilterForm } from '../../parts/Filter.js'
import { momentOf } from '../../parts/format.js'
import { CopyButton, Hex } from '../../parts/Hex.js'
import { Json } from '../../parts/Json.js'
import { Options } from '../../parts/Options.js'
import { Panel } from '../../parts/Panel.js'
import { Rows } from '../../parts/Rows.js'
import { saveAnswer } from '../../parts/saveFile.js'
import type { Column } from '../../parts/Table.js'
import { go, hrefOf, place, searchWith } from '../../router.js'
import { Paged } from '../operations/Paged.js'
import { useList } from '../operations/useList.js'

const filters = ['actor', 'action', 'objectId', 'appId'] as const
const filterNames = { action: 'Action', objectId: 'Object', appId: 'App' } as const
const actors = ['operator', 'account', 'token', 'user', 'command']

/** The name or address of the object, as the entry itself keeps it. */
function keptName({ before, after }: AuditEntry): string | undefined {
  return [after, before]
    .flatMap((kept) => (kept !== null && typeof kept === 'object' ? Object.entries(kept) : []))
    .flatMap(([key, value]) =>
      (key === 'name' || key === 'email') && typeof value === 'string' ? value : [],
    )
    .at(0)
}

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<AuditEntry>[] => [
  { name: 'What', cell: ({ action }) => <code>{action}</code> },
  { name: 'Age', cell: ({ at }) => <Age at={at} /> },
  {
    name: 'Who',
    cell: ({ actor, actorId }) => (
      <>
        {actor}{' '}
        {actorId !== null && (
          <span title={actorId}>{names.get(actorId) ?? <code>{actorId.slice(0, 8)}</code>}</span>
        )}
      </>
    ),
  },
  {
    name: 'Object',
    shown: 'wide',
    cell: (entry) => (
      <span title={entry.objectId}>
        {nameOf(entry.objectId) ?? keptName(entry) ?? <code>{entry.objectId.slice(0, 13)}</code>}
      </span>
    ),
  },
  { name: 'From', shown: 'widest', cell: ({ ip }) => ip ?? '–' },
]

/** The e-mail addresses of users and the names of tokens by their ids, as far as the user may read them. */
function useActorNames(): ReadonlyMap<string, string> {
  const isOfAccount = accountId.value !== undefined && mayAct('admin')
  const isOperator = session.value?.user.isOperator === true
  const users = useQuery<Page<User>>(isOperator ? '/users' : undefined).data
  const members = useQuery<Page<Member>>(isOfAccount ? '/members' : undefined).data
  const tokens = useQuery<Page<AuthToken>>(isOfAccount ? '/auth-tokens' : undefined).data
  return new Map([
    ...(tokens?.items ?? []).map(({ id, name }) => [id, name] as const),
    ...(members?.items ?? []).map(({ userId, email }) => [userId, email] as const),
    ...(users?.items ?? []).map(({ id, email }) => [id, email] as const),
  ])
}

/** The entry of an id that is not among the rows, as a copied link names it. */
function useKeptEntry(id: string | undefined): AuditEntry | undefined {
  const isId = id !== undefined && /^\d{1,18}$/.test(id)
  const query = isId ? { limit: '1', before: String(BigInt(id) + 1n) } : {}
  const { data } = useQuery<Page<AuditEntry>>(isId ? '/audit' : undefined, query)
  return data?.items.find((entry) => entry.id === id)
}

/** The audit log: a list and the open entry. */
export function Audit() {
  const { path, search } = place.value
  const names = useActorNames()
  const openId = path.split('/')[1]
  const query = Object.fromEntries(
    filters.flatMap((name) => {
      const value = search.get(name)
      return value === null || value === '' ? [] : [[name, value] as const]
    }),
  )
  const isReading = () => openId !== undefined
  const list = useList<AuditEntry>('/audit', query, ({ id }) => id, isReading)
  const listed = list.rows?.find(({ id }) => id === openId)
  const kept = useKeptEntry(list.rows !== undefined && listed === undefined ? openId : undefined)
  const open = listed ?? kept
  const hrefFor = ({ id }: AuditEntry) => hrefOf(`audit/${id}`, searchWith({}))
  const set = (name: string, value: string | undefined) =>
    go(hrefOf('audit', searchWith({ [name]: value })))
  return (
    <div class={open === undefined ? 'split' : 'split is-open'}>
      <section class="side-list">
        <div class="row">
          <h1>Audit</h1>
          <span class="grow" />
          <button
            type="button"
            onClick={() => void saveAnswer(pathOf('/audit/export', query), 'audit.ndjson')}
          >
            Export as NDJSON
          </button>
          <CsvButton path="/audit" query={query} isPaged />
          <AsCodeButton
            title="Audit as code"
            codes={[
              ['curl', curl(pathOf('/audit', query))],
              ['All of it', curl(pathOf('/audit/export', query))],
              ['command', 'purser audit list\npurser audit verify'],
            ]}
          />
        </div>
        <div class="filters">
          <select
            aria-label="Who"
            value={search.get('actor') ?? ''}
            onChange={(event) => set('actor', event.currentTarget.value || undefined)}
          >
            <option value="">Anybody</option>
            <Options of={actors.map((actor) => [actor, actor])} />
          </select>
          <FilterForm
            label="Filter by action or object"
            placeholder="+ filter: key.create, or an id"
            onAdd={(text) => set(/^[a-z_]+\.[a-z_.]+$/.test(text) ? 'action' : 'objectId', text)}
          />
          {(['action', 'objectId', 'appId'] as const).map(
            (name) =>
              query[name] !== undefined && (
                <FilterChip
                  key={name}
                  name={filterNames[name]}
                  value={query[name]}
                  onRemove={() => set(name, undefined)}
                />
              ),
          )}
        </div>
        <div class="list">
          <Paged
            list={list}
            lines={8}
            empty={
              <Empty
                title={
                  Object.keys(query).length === 0
                    ? 'Nothing was changed yet'
                    : 'Nothing matches these filters'
                }
              >
                <p>Each change stands here for good: who made it, from where, before and after.</p>
              </Empty>
            }
          >
            {(rows) => (
              <Rows
                label="Audit"
                columns={columnsOf(names)}
                rows={rows}
                keyOf={({ id }) => id}
                hrefOf={hrefFor}
                openKey={openId}
              />
            )}
          </Paged>
        </div>
        <p class="muted">
          Each entry holds the hash of the one before it: <code>purser audit verify</code> finds
          what was changed or taken out.
          {list.rows?.[0] !== undefined && (
            <>
              {' '}
              The newest hash is <code>{list.rows[0].hash.slice(0, 12)}…</code>
              <CopyButton text={list.rows[0].hash} what="the newest hash" />
            </>
          )}
        </p>
      </section>
      {open !== undefined && (
        <aside class="panel" aria-label="Entry">
          <Entry
            entry={open}
            who={names.get(open.actorId ?? '')}
            onClose={() => go(hrefOf('audit', searchWith({})))}
          />
        </aside>
      )}
    </div>
  )
}

type EntryProps = {
  readonly entry: AuditEntry
  /** The name of the actor; undefined = there is none, or the user may not read it. */
  readonly who: string | undefined
  onClose(): void
}

function Entry({ entry, who, onClose }: EntryProps) {
  return (
    <Panel
      name="Entry"
      title={<code>{entry.action}</code>}
      codes={[['curl', curl(pathOf('/audit', { objectId: entry.objectId }))]]}
      onClose={onClose}
    >
      <Facts>
        <Fact name="When">{momentOf(entry.at)}</Fact>
        <Fact name="Who">
          {entry.actor} {who} {entry.actorId !== null && <Hex value={entry.actorId} what="who" />}
        </Fact>
        <Fact name="From">{entry.ip ?? 'this machine'}</Fact>
        <Fact name="Object">
          <Hex value={entry.objectId} what="the object" />
        </Fact>
        {entry.requestId !== null && (
          <Fact name="Request">
            <Hex value={entry.requestId} what="the request id" />
          </Fact>
        )}
        <Fact name="Hash">
          <Hex value={entry.hash} what="the hash" />
        </Fact>
      </Facts>
      <section>
        <h3>Before</h3>
        {entry.before == null ? <p class="muted">Nothing.</p> : <Json value={entry.before} />}
      </section>
      <section>
        <h3>After</h3>
        {entry.after == null ? <p class="muted">Nothing.</p> : <Json value={entry.after} />}
      </section>
    </Panel>
  )
}
