import type { Subscription } from '../../api/shapes.js'
import { Age } from '../../parts/Age.js'

type EventType = Subscription['eventTypes'][number]

/** Every event, in the words of people. */
const events: Readonly<Record<EventType, string>> = {
  'user_operation.included': 'an operation was included',
  'user_operation.failed': 'an operation was included, and its call reverted',
  'user_operation.dropped': 'an operation left the pool',
  'sponsorship.signed': 'a sponsorship was signed',
  'sponsorship.settled': 'a sponsorship was paid',
  'sponsorship.expired': 'a sponsorship ran out unused',
  'tank.low': 'a tank runs low',
  'webhook.circuit_opened': 'an approval webhook is paused, because it fails',
}

/** A choice of events; all of a new subscription's are chosen. */
export function EventFields({ chosen }: { readonly chosen: readonly EventType[] | undefined }) {
  return (
    <fieldset>
      <legend>Events</legend>
      {Object.entries(events).map(([type, text]) => (
        <label key={type} class="check">
          <input
            type="checkbox"
            name="types"
            value={type}
            defaultChecked={chosen?.some((each) => each === type) ?? true}
          />
          <span>
            <code>{type}</code> <span class="muted">{text}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** The events that are chosen in a form. */
export function typesOf(form: FormData): readonly string[] {
  return form.getAll('types').map(String)
}

/** Whether events go there. */
export function SubscriptionState({ subscription }: { readonly subscription: Subscription }) {
  const { active, failingSince, disabledReason } = subscription
  if (disabledReason !== null) return <span class="tag bad">ended by failures</span>
  if (!active) return <span class="tag">paused</span>
  if (failingSince !== null)
    return (
      <span class="tag doubt">
        failing · <Age at={failingSince} />
      </span>
    )
  return <span class="tag good">on</span>
}
