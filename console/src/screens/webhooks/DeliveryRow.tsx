import { mayAct } from '../../api/role.js'
import type { Delivery } from '../../api/shapes.js'
import { Age } from '../../parts/Age.js'
import { momentOf } from '../../parts/format.js'
import { Json } from '../../parts/Json.js'

const looks: Readonly<Record<Delivery['state'], string>> = {
  delivered: 'good',
  pending: 'doubt',
  failed: 'bad',
}

type DeliveryRowProps = { readonly delivery: Delivery; onResend(): void }

/** One event on its way: its attempts and what was sent, unfolded by a click. */
export function DeliveryRow({ delivery, onResend }: DeliveryRowProps) {
  const { type, state, attempts, httpStatus, nextAttemptAt, occurredAt } = delivery
  return (
    <li>
      <details>
        <summary>
          <span class={`tag ${looks[state]}`}>
            {state === 'pending' && attempts > 0 ? 'retrying' : state}
          </span>
          <code>{type}</code>
          <span class="muted">
            <Age at={occurredAt} />, {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
            {httpStatus !== null && `, HTTP ${httpStatus}`}
            {nextAttemptAt !== null && `, next at ${momentOf(nextAttemptAt)}`}
          </span>
        </summary>
        <Attempts delivery={delivery} />
        <Json value={delivery.data} />
      </details>
      <button
        type="button"
        class="plain"
        disabled={!mayAct('developer')}
        aria-label={`Send again: ${type}`}
        onClick={onResend}
      >
        Send again
      </button>
    </li>
  )
}

/** Each attempt, the newest first; of one before the records of attempts only its end is known. */
function Attempts({ delivery: { recentAttempts, reason } }: { readonly delivery: Delivery }) {
  if (recentAttempts.length === 0) return reason === null ? null : <p class="muted">{reason}</p>
  return (
    <ol class="attempts" aria-label="Attempts, the newest first">
      {[...recentAttempts].reverse().map((each) => (
        <li key={each.at}>
          <span class={`tag ${each.outcome === 'delivered' ? 'good' : 'bad'}`}>
            {each.httpStatus === null
              ? each.outcome.replaceAll('_', ' ')
              : `HTTP ${each.httpStatus}`}
          </span>
          <span>
            {momentOf(each.at)} <span class="muted">in {each.milliseconds} ms</span>
          </span>
          {each.reason !== null && <span class="muted">{each.reason}</span>}
        </li>
      ))}
    </ol>
  )
}
