import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import type { Page, Subscription } from '../../api/shapes.js'
import { Empty } from '../../parts/Empty.js'
import type { Column } from '../../parts/Table.js'
import { hrefOf } from '../../router.js'
import { EventPanel } from './EventPanel.js'
import { EventFields, SubscriptionState, typesOf } from './eventParts.js'
import { UrlField } from './UrlField.js'
import { type ListProps, WebhookList } from './WebhookList.js'

const columns: readonly Column<Subscription>[] = [
  {
    name: 'URL',
    cell: ({ url }) => (
      <span class="cut" title={url}>
        {url}
      </span>
    ),
  },
  { name: 'State', cell: (row) => <SubscriptionState subscription={row} /> },
  {
    name: 'Events',
    shown: 'wide',
    cell: ({ eventTypes }) => <span title={eventTypes.join(', ')}>{eventTypes.length}</span>,
  },
]

/** Where the events of an app go, and the open webhook. */
export function Events({ app, openId, head }: ListProps) {
  const path = `/apps/${app.id}/subscriptions`
  const subscriptions = useQuery<Page<Subscription>>(path)
  return (
    <WebhookList
      path={path}
      query={subscriptions}
      label="Subscriptions"
      command={`purser subscription list --app ${app.id}`}
      columns={columns}
      openId={openId}
      head={head}
      all="webhooks/events"
      keyOf={({ id }) => id}
      hrefOf={({ id }) => hrefOf(`webhooks/events/${app.id}/${id}`)}
      panelOf={(subscription, acts) => (
        <EventPanel key={subscription.id} app={app} subscription={subscription} {...acts} />
      )}
      empty={
        <Empty title="No subscription">
          <p>
            An operation was included, a tank runs low: a subscription sends such events to your
            server, signed, and again until it takes them.
          </p>
        </Empty>
      }
      making={{
        button: 'New subscription',
        title: 'Send events to a URL',
        act: 'Subscribe',
        codes: [
          [
            'curl',
            curl(path, 'POST', { url: 'https://…', eventTypes: ['user_operation.included'] }),
          ],
          [
            'command',
            `purser subscription create --app ${app.id} --url https://… --events user_operation.included`,
          ],
        ],
        bodyOf: (form) => ({ url: String(form.get('url')), eventTypes: typesOf(form) }),
        madeOf: ({ subscription }) => subscription as Subscription,
        fields: (
          <>
            <UrlField placeholder="https://api.shop.example/events" />
            <EventFields chosen={undefined} />
          </>
        ),
      }}
    />
  )
}
