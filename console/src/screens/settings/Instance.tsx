import { useQuery } from '../../api/query.js'
import type { InstanceSettings } from '../../api/shapes.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { momentOf } from '../../parts/format.js'
import { Json } from '../../parts/Json.js'
import { ListActs } from '../../parts/ListActs.js'
import { Loaded } from '../../parts/Loaded.js'
import { Table } from '../../parts/Table.js'
import { LogLevel } from './LogLevel.js'

type Setting = InstanceSettings['items'][number]

/** How the process that answers was configured, and the level of its log. */
export function Instance() {
  const query = useQuery<InstanceSettings>('/settings')
  return (
    <Loaded query={query} lines={8}>
      {(settings) => (
        <>
          <section class="card" aria-label="This process">
            <div class="card-head">
              <h2>This process</h2>
              <LogLevel level={settings.logLevel} onChanged={query.refresh} />
            </div>
            <Facts>
              <Fact name="Version">
                {settings.version}, schema {settings.schema}
              </Fact>
              <Fact name="Since">{momentOf(settings.startedAt)}</Fact>
              {settings.process !== null && (
                <Fact name="Process">number {settings.process} of those on this listener</Fact>
              )}
              <Fact name="File">{settings.file ?? 'none was read'}</Fact>
              <Fact name="Log level">
                <span class="tag">{settings.logLevel.now}</span>
                {settings.logLevel.now !== settings.logLevel.configured && (
                  <span class="muted"> {settings.logLevel.configured} from the next start on</span>
                )}
              </Fact>
            </Facts>
          </section>
          <section class="card flush" aria-label="Configuration">
            <div class="card-head">
              <h2>Configuration</h2>
              <ListActs path="/settings" title="Configuration" />
            </div>
            <Table
              label="Configuration"
              columns={columns}
              rows={[...settings.items].sort(chosenFirst)}
              keyOf={({ name }) => name}
            />
          </section>
        </>
      )}
    </Loaded>
  )
}

/** What somebody chose, before what nobody did. */
function chosenFirst(a: Setting, b: Setting): number {
  return Number(a.source === 'default') - Number(b.source === 'default')
}

const columns = [
  {
    name: 'Setting',
    cell: ({ name, help }: Setting) => (
      <span class="setting">
        <code>{name}</code>
        <span class="muted">{help}</span>
      </span>
    ),
  },
  {
    name: 'From',
    cell: ({ source, flag, variable }: Setting) => (
      <span
        class={source === 'default' ? 'muted' : 'tag'}
        title={`${flag}, ${variable}, or the key in the file`}
      >
        {source}
      </span>
    ),
  },
  { name: 'Value', cell: (setting: Setting) => <Value setting={setting} /> },
] as const

function Value({ setting: { value, source, isSecret } }: { readonly setting: Setting }) {
  if (isSecret)
    return <span class="muted">{source === 'default' ? 'not set' : 'set, never shown'}</span>
  if (value === null) return <span class="muted">not set</span>
  if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return value.length === 0 ? <span class="muted">none</span> : <code>{value.join(', ')}</code>
  if (typeof value === 'object')
    return Object.keys(value).length === 0 ? (
      <span class="muted">none</span>
    ) : (
      <details>
        <summary>{Array.isArray(value) ? `${value.length} of them` : 'its fields'}</summary>
        <Json value={value} />
      </details>
    )
  return <code>{String(value)}</code>
}
