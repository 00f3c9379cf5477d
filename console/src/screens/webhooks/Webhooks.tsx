import { accountId } from '../../api/call.js'
import { useQuery } from '../../api/query.js'
import type { App, Need, Page } from '../../api/shapes.js'
import { Empty } from '../../parts/Empty.js'
import { Loaded } from '../../parts/Loaded.js'
import { NoAccount } from '../../parts/NoAccount.js'
import { Options } from '../../parts/Options.js'
import { Tabs } from '../../parts/Tabs.js'
import { go, hrefOf, place } from '../../router.js'
import { Approvals } from './Approvals.js'
import { Events } from './Events.js'
import './webhooks.css'

/** Webhooks that approve sponsorships, and those that events go to: `webhooks/APP/ID`, `webhooks/events/APP/ID`. */
export function Webhooks() {
  const { path, search } = place.value
  const isOfAccount = accountId.value !== undefined
  const apps = useQuery<Page<App>>(isOfAccount ? '/apps' : undefined)
  const needs = useQuery<Page<Need>>(isOfAccount ? '/attention' : undefined)
  const [, ...rest] = path.split('/')
  const isEvents = rest[0] === 'events'
  const [appOfPath, openId] = isEvents ? rest.slice(1) : rest
  const base = isEvents ? 'webhooks/events' : 'webhooks'
  if (!isOfAccount) return <NoAccount />
  return (
    <Loaded query={apps} lines={6}>
      {({ items }) => {
        const live = items.filter(({ revokedAt }) => revokedAt === null)
        const asked = appOfPath ?? search.get('appId')
        // Without a choice: the app whose webhooks fail, so that they are not behind an empty list.
        const kind = isEvents ? 'subscription' : 'webhook'
        const failing = needs.data?.items.find((need) => need.kind === kind)?.appId
        const app =
          live.find(({ id }) => id === asked) ?? live.find(({ id }) => id === failing) ?? live[0]
        if (app === undefined)
          return (
            <Empty title="No app yet">
              <p>
                Webhooks belong to an app. <a href={hrefOf('apps')}>Create one</a>
              </p>
            </Empty>
          )
        const List = isEvents ? Events : Approvals
        return (
          <List
            key={`${base} ${app.id}`}
            app={app}
            openId={openId}
            head={
              <>
                <Tabs
                  label="Kind of webhook"
                  tabs={[
                    {
                      name: 'Approval',
                      href: hrefOf('webhooks', { appId: app.id }),
                      isHere: !isEvents,
                    },
                    {
                      name: 'Events',
                      href: hrefOf('webhooks/events', { appId: app.id }),
                      isHere: isEvents,
                    },
                  ]}
                />
                {live.length > 1 && <Choice apps={live} app={app} base={base} />}
              </>
            }
          />
        )
      }}
    </Loaded>
  )
}

type ChoiceProps = { readonly apps: readonly App[]; readonly app: App; readonly base: string }

function Choice({ apps, app, base }: ChoiceProps) {
  return (
    <label class="inline">
      App{' '}
      <select
        value={app.id}
        onChange={(event) => go(hrefOf(base, { appId: event.currentTarget.value }))}
      >
        <Options of={apps.map(({ id, name }) => [id, name])} />
      </select>
    </label>
  )
}
