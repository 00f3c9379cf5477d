import { call } from '../../api/call.js'
import { useChanges } from '../../api/changes.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import type { App, Delivery, Page, Subscription } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { CsvButton } from '../../parts/CsvButton.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { Field } from '../../parts/Field.js'
import { localTextOf, momentOf } from '../../parts/format.js'
import { Loaded } from '../../parts/Loaded.js'
import { Panel } from '../../parts/Panel.js'
import { toast } from '../../parts/toasts.js'
import { useOpen } from '../../parts/useOpen.js'
import { go, hrefOf } from '../../router.js'
import { DeliveryRow } from './DeliveryRow.js'
import { EventFields, SubscriptionState, typesOf } from './eventParts.js'
import { WebhookActs } from './WebhookActs.js'
import type { PanelActs } from './WebhookList.js'

type EventPanelProps = PanelActs & { readonly app: App; readonly subscription: Subscription }

type Sent = { readonly count: number }

/** One subscription: what became of its events, and what can be sent again or changed. */
export function EventPanel({ app, subscription, ...acts }: EventPanelProps) {
  const path = `/apps/${app.id}/subscriptions/${subscription.id}`
  const deliveries = useQuery<Page<Delivery>>(`${path}/deliveries`, { limit: '30' })
  const sendingAgain = useOpen()
  useChanges(() => {
    deliveries.refresh()
    acts.onChanged()
  }, true)
  const resend = async (body: object): Promise<void> => {
    const { count } = await call<Sent>('POST', `${path}/replay`, { body })
    toast(count === 1 ? 'It is sent again' : `${count} events are sent again`)
    deliveries.refresh()
  }
  return (
    <Panel
      name="Subscription"
      title={
        <>
          <SubscriptionState subscription={subscription} />{' '}
          <code>{new URL(subscription.url).host}</code>
        </>
      }
      codes={[
        ['curl', curl(`${path}/deliveries`)],
        ['Command', `purser subscription replay ${subscription.id} --app ${app.id}`],
      ]}
      onClose={() => go(hrefOf('webhooks/events', { appId: app.id }))}
    >
      {subscription.disabledReason !== null && <p class="warn">{subscription.disabledReason}</p>}
      <WebhookActs
        {...acts}
        path={path}
        active={subscription.active}
        turn={subscription.active ? 'Pause' : 'Resume'}
        settings={{
          button: 'Events…',
          title: 'Which events',
          example: { eventTypes: subscription.eventTypes },
          fields: <EventFields chosen={subscription.eventTypes} />,
          bodyOf: (form) => ({ eventTypes: typesOf(form) }),
        }}
        deletion={{
          title: 'Delete this subscription',
          text: 'What was not delivered is forgotten. Pausing it keeps it.',
          href: hrefOf('webhooks/events', { appId: app.id }),
        }}
      >
        <ActButton needs="developer" onClick={sendingAgain.open}>
          Send again…
        </ActButton>
      </WebhookActs>
      <section>
        <h3>Facts</h3>
        <Facts>
          <Fact name="URL">
            <span class="whole">{subscription.url}</span>
          </Fact>
          <Fact name="Since">{momentOf(subscription.createdAt)}</Fact>
        </Facts>
      </section>
      <section>
        <div class="card-head">
          <h3>Deliveries</h3>
          <CsvButton path={`${path}/deliveries`} isPaged />
        </div>
        <Loaded query={deliveries} lines={4}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="muted">No event yet: the next one appears here by itself.</p>
            ) : (
              <ul class="deliveries">
                {items.map((each) => (
                  <DeliveryRow
                    key={each.id}
                    delivery={each}
                    onResend={() =>
                      void resend({ eventId: each.eventId }).catch((error: Error) =>
                        toast(error.message),
                      )
                    }
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
      {sendingAgain.isOpen && (
        <ActionDialog
          title="Send events again"
          act="Send them"
          codes={[
            [
              'curl',
              curl(`${path}/replay`, 'POST', {
                since: new Date().toISOString(),
                onlyFailed: true,
              }),
            ],
            ['Command', `purser subscription replay ${subscription.id} --app ${app.id} --failed`],
          ]}
          run={async (form) => {
            const time = String(form.get('since'))
            await resend({
              onlyFailed: form.get('which') === 'failed',
              ...(time !== '' && { since: new Date(time).toISOString() }),
            })
          }}
          onClose={sendingAgain.close}
        >
          <p>
            Events are kept for 30 days. Your server sees by <code>webhook-id</code> which ones it
            has already.
          </p>
          <Field label="Which">
            <select name="which">
              <option value="failed">those that failed for good</option>
              <option value="all">all, delivered or not</option>
            </select>
          </Field>
          <Field label="Those since" hint="Empty = all that are kept">
            <input
              name="since"
              type="datetime-local"
              defaultValue={localTextOf(subscription.failingSince)}
            />
          </Field>
        </ActionDialog>
      )}
    </Panel>
  )
}
