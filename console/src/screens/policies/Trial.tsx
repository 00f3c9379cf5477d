import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call, Trouble } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { mayAct } from '../../api/role.js'
import type { App, PolicyTrial, Terms } from '../../api/shapes.js'
import { Age } from '../../parts/Age.js'
import { Code } from '../../parts/Code.js'
import { shortOf } from '../../parts/format.js'
import { Icon } from '../../parts/Icon.js'
import { Options } from '../../parts/Options.js'
import { TroubleBanner } from '../../parts/TroubleBanner.js'
import { hrefOf, place } from '../../router.js'
import type { Against } from './against.js'
import { againstOf } from './against.js'

type TrialProps = {
  readonly apps: readonly App[]
  /** null = a policy of all apps, which is tried on one of them. */
  readonly appId: string | null
  readonly policyId: string | undefined
  /** undefined = the service has not found the draft well-formed. */
  readonly terms: Terms | undefined
  readonly isChanged: boolean
}

type Outcome = { readonly answer: PolicyTrial; readonly text: string }

/** Rows that a trial lists. */
const ROWS = 12

/** What a draft would have said: of the newest operations, or of the decision or refusal that led here. */
export function Trial({ apps, appId, policyId, terms, isChanged }: TrialProps) {
  const linked = againstOf(place.value.search)
  const isAll = useSignal(linked === undefined)
  const chosen = useSignal(apps[0]?.id)
  const outcome = useSignal<Outcome | undefined>(undefined)
  const trouble = useSignal<Trouble | undefined>(undefined)
  const isBusy = useSignal(false)
  const of = appId ?? chosen.value
  const against: Against = isAll.value || linked === undefined ? { last: 500 } : linked
  const path = `/apps/${of}/policies/try`
  const text = JSON.stringify(terms)
  const body = { terms, ...(policyId !== undefined && { policyId }), against }
  const run = async (): Promise<void> => {
    if (terms === undefined || isBusy.value) return
    isBusy.value = true
    try {
      outcome.value = { answer: await call<PolicyTrial>('POST', path, { body }), text }
      trouble.value = undefined
    } catch (error) {
      trouble.value = error instanceof Trouble ? error : new Trouble(0, String(error))
    } finally {
      isBusy.value = false
    }
  }
  // Opened from a refusal, it shows at once what the policy decides about it.
  const isReady = terms !== undefined && outcome.value === undefined
  useEffect(() => {
    if (linked !== undefined && isReady) void run()
  }, [isReady])
  const { answer } = outcome.value ?? {}
  const isOld = outcome.value !== undefined && outcome.value.text !== text
  return (
    <section class="card trial" aria-label="Try it">
      <div class="card-head">
        <h2>Try it</h2>
        {appId === null && (
          <select
            aria-label="On operations of"
            value={of}
            onChange={(event) => {
              chosen.value = event.currentTarget.value
            }}
          >
            <Options of={apps.map(({ id, name }) => [id, name])} />
          </select>
        )}
        <button
          type="button"
          disabled={terms === undefined || of === undefined || isBusy.value || !mayAct('developer')}
          title={mayAct('developer') ? undefined : 'This needs the role developer in the account'}
          onClick={() => void run()}
        >
          {isBusy.value ? 'Trying…' : 'Run'}
        </button>
      </div>
      {linked !== undefined && (
        <fieldset class="choices">
          <legend class="sr-only">Against</legend>
          <label class="check">
            <input
              type="radio"
              name="against"
              checked={!isAll.value}
              onChange={() => {
                isAll.value = false
                outcome.value = undefined
              }}
            />
            {'decisionId' in linked
              ? 'the sponsorship that was refused'
              : 'the request that was refused'}
          </label>
          <label class="check">
            <input
              type="radio"
              name="against"
              checked={isAll.value}
              onChange={() => {
                isAll.value = true
                outcome.value = undefined
              }}
            />
            the last 500 operations
          </label>
        </fieldset>
      )}
      <TroubleBanner trouble={trouble.value} onRetry={() => void run()} />
      {answer === undefined ? (
        trouble.value === undefined && (
          <p class="muted">
            What {isChanged ? 'this draft' : 'this policy'} would have said{' '}
            {isAll.value ? 'of the last 500 operations of the app' : 'then'}. Nothing is kept,
            nobody is asked.
          </p>
        )
      ) : (
        <div class={isOld ? 'is-old' : undefined} aria-live="polite">
          {isOld && <p class="warn">The draft has changed since. Run it again.</p>}
          <Result answer={answer} />
        </div>
      )}
      <details>
        <summary>As code</summary>
        <Code what="the curl" text={curl(path, 'POST', body)} />
      </details>
    </section>
  )
}

function Result({ answer }: { readonly answer: PolicyTrial }) {
  const { tried, passed, refused, before, verdicts, unevaluated, items } = answer
  if (tried === 0) return <p>The app has no operation yet on which it could be tried.</p>
  return (
    <>
      <p class="trial-sum">
        <strong class="good">{passed} pass</strong>
        {tried - passed > 0 && <strong class="bad"> {tried - passed} would be refused</strong>}
        <span class="muted">
          {' '}
          of {tried}; then: {before.sponsored} sponsored, {before.refused} refused, {before.unasked}{' '}
          not asked
        </span>
      </p>
      {refused.length > 0 && (
        <ul class="trial-codes">
          {refused.map(({ code, count }) => (
            <li key={code}>
              {count} <code>{code}</code>
            </li>
          ))}
        </ul>
      )}
      {verdicts !== null && (
        <ul class="verdicts" aria-label="Rule by rule">
          {verdicts.map(({ rule, passes, message }) => (
            <li key={rule} class={passes ? 'good' : 'bad'}>
              <Icon name={passes ? 'included' : 'failed'} />
              <span>
                <strong>{rule}</strong> {passes ? 'passes' : message}
              </span>
            </li>
          ))}
        </ul>
      )}
      {unevaluated.length > 0 && (
        <p class="muted">
          Not applied here: {unevaluated.map((each) => partNames[each]).join(', ')}.
        </p>
      )}
      {verdicts === null && <Items items={items} />}
    </>
  )
}

const partNames: Readonly<Record<PolicyTrial['unevaluated'][number], string>> = {
  webhooks: 'webhooks, which are not asked',
  budgetsInUsd: 'budgets in USD, as the price of then is not known',
  budgetsOfAmounts: 'budgets of amounts, as a cost is not known',
  fees: 'the fee, as it is not known',
  validity: 'from and until, as the operations are of the past',
}

/** The newest operations that would be treated otherwise than then come first, then other refused ones. */
function Items({ items }: Pick<PolicyTrial, 'items'>) {
  const rows = [...items]
    .reverse()
    .filter(({ passes }) => !passes)
    .slice(0, ROWS)
  if (rows.length === 0) return null
  return (
    <ul class="trial-items" aria-label="The newest that would be refused">
      {rows.map(({ chainId, userOpHash, sender, at, code, message }) => (
        <li key={`${userOpHash} ${at}`}>
          <code>{code}</code>{' '}
          {userOpHash === null ? (
            <code>{shortOf(sender)}</code>
          ) : (
            <a href={hrefOf(`operations/${chainId}/${userOpHash}`)}>{shortOf(userOpHash)}</a>
          )}{' '}
          {at !== null && <Age at={at} />}
          <span class="muted">{message}</span>
        </li>
      ))}
    </ul>
  )
}
