import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import { mayAct } from '../../api/role.js'
import type { App, Chain, Page, Policy, PolicyCheck, Terms } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Field } from '../../parts/Field.js'
import { Options } from '../../parts/Options.js'
import { Tabs } from '../../parts/Tabs.js'
import { toast } from '../../parts/toasts.js'
import { useShown } from '../../parts/useOpen.js'
import { go, hrefOf, place, searchWith } from '../../router.js'
import { BudgetUse } from './BudgetUse.js'
import { lineDiff } from './lineDiff.js'
import { PolicyForm } from './PolicyForm.js'
import { Trial } from './Trial.js'
import { changeWarnings, termsOf, textOf } from './terms.js'

type EditorProps = {
  readonly apps: readonly App[]
  /** undefined = a new policy. */
  readonly stored: Policy | undefined
  onSaved?(): void
}

/** Milliseconds without a change after which the service checks a draft. */
const PAUSE = 300

type Draft = {
  readonly name: string
  readonly active: boolean
  readonly position: number
  readonly appId: string | null
}

/** The app that the address names, for a new policy; else the first. */
function appOfAddress(apps: readonly App[]): string | null {
  const named = place.peek().search.get('appId')
  return apps.find(({ id }) => id === named)?.id ?? apps[0]?.id ?? null
}

/** One policy: its terms as a form and as JSON, which are one draft, and what it would have said. */
export function PolicyEditor({ apps, stored, onSaved }: EditorProps) {
  const before = useMemo(() => textOf(stored?.terms ?? {}), [stored])
  const text = useSignal(before)
  // The newest text whose members have the types that the form reads: its own, or one that the service found valid.
  const formed = useSignal(before)
  const draft = useSignal<Draft>({
    name: stored?.name ?? '',
    active: stored?.active ?? true,
    position: stored?.position ?? 0,
    appId: stored === undefined ? appOfAddress(apps) : stored.appId,
  })
  const dialog = useShown<'save' | 'delete'>()
  const chains = useQuery<Page<Chain>>('/chains')
  const check = useCheck(text.value, draft.value, stored?.policyId, (valid) => {
    formed.value = valid
  })
  const terms = termsOf(text.value)
  const set = (changes: Partial<Draft>) => {
    draft.value = { ...draft.value, ...changes }
  }
  const change = (next: string) => {
    text.value = next
    formed.value = next
  }
  const isFormed = text.value === formed.value
  const isJson = place.value.search.get('as') === 'json'
  const isChanged =
    stored === undefined ||
    text.value !== before ||
    (['name', 'active', 'position'] as const).some((each) => draft.value[each] !== stored[each])
  const mistakes = terms === undefined ? [] : (check?.errors ?? [])
  const served = chains.data?.items.map(({ chainId }) => chainId)
  const warnings =
    terms === undefined || !isFormed
      ? []
      : [
          ...changeWarnings(terms, {
            active: draft.value.active,
            stored: stored?.terms as Terms | undefined,
          }),
          ...(check?.warnings ?? []).map(
            ({ path, message }) => `${path || 'These terms'} ${message}`,
          ),
        ]
  const body = { ...draft.value, terms }
  return (
    <div class="screen">
      <div class="row">
        <nav class="crumbs" aria-label="Where you are">
          <a href={hrefOf('policies')}>Policies</a> <span aria-hidden="true">/</span>
          <h1>{stored?.name ?? 'New policy'}</h1>
        </nav>
        <span class="grow" />
        <span class="actions">
          {stored !== undefined && (
            <ActButton needs="admin" onClick={() => dialog.show('delete')}>
              Delete
            </ActButton>
          )}
          <button
            type="button"
            disabled={!isChanged || stored === undefined}
            onClick={() => {
              change(before)
              if (stored)
                set({ name: stored.name, active: stored.active, position: stored.position })
            }}
          >
            Discard
          </button>
          <ActButton
            needs="admin"
            look="primary"
            onClick={() => {
              if (draft.value.name.trim() === '') toast('The policy needs a name')
              else if (terms === undefined) toast('The JSON is not complete')
              else if (isChanged) dialog.show('save')
              else toast('Nothing was changed')
            }}
          >
            Save…
          </ActButton>
        </span>
      </div>
      <div class="policy-columns">
        <section class="card policy-draft" aria-label="The policy">
          <div class="field-row policy-head">
            <Field label="Name">
              <input
                value={draft.value.name}
                maxLength={100}
                disabled={!mayAct('admin')}
                onInput={(event) => set({ name: event.currentTarget.value })}
              />
            </Field>
            <Field label="Applies to">
              <select
                value={draft.value.appId ?? ''}
                disabled={stored !== undefined}
                onChange={(event) => set({ appId: event.currentTarget.value || null })}
              >
                <Options of={apps.map(({ id, name }) => [id, name])} />
                <option value="">All apps of the account</option>
              </select>
            </Field>
            <Field label="Order">
              <input
                type="number"
                min={0}
                max={1_000_000}
                value={draft.value.position}
                disabled={!mayAct('admin')}
                onChange={(event) => set({ position: Number(event.currentTarget.value) })}
              />
            </Field>
          </div>
          <label class="check">
            <input
              type="checkbox"
              checked={draft.value.active}
              disabled={!mayAct('admin')}
              onChange={(event) => set({ active: event.currentTarget.checked })}
            />
            On
          </label>
          <Tabs
            label="The terms"
            tabs={[
              { name: 'Form', href: here({ as: undefined }), isHere: !isJson },
              { name: 'JSON', href: here({ as: 'json' }), isHere: isJson },
            ]}
          />
          <Mistakes check={check} isJson={terms !== undefined} />
          {isJson ? (
            <textarea
              aria-label="The terms as JSON"
              class="policy-json"
              spellcheck={false}
              rows={24}
              value={text.value}
              readOnly={!mayAct('developer')}
              onInput={(event) => {
                text.value = event.currentTarget.value
              }}
            />
          ) : terms === undefined || !isFormed ? (
            <p class="warn">The JSON is not complete: fix it there first.</p>
          ) : (
            <PolicyForm
              terms={terms}
              served={served ?? []}
              mistakes={mistakes}
              onChange={(next) => change(textOf(next))}
            />
          )}
        </section>
        <div class="policy-side">
          {warnings.length > 0 && (
            <ul class="warn policy-warnings" aria-label="Before you save">
              {warnings.map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          )}
          {stored !== undefined && <BudgetUse policyId={stored.policyId} apps={apps} />}
          <Trial
            apps={apps}
            appId={draft.value.appId}
            policyId={stored?.policyId}
            terms={check?.valid ? terms : undefined}
            isChanged={text.value !== before}
          />
        </div>
      </div>
      {dialog.shown === 'save' && (
        <ActionDialog
          title={stored === undefined ? 'Create this policy' : `Save ${stored.name}`}
          act={stored === undefined ? 'Create it' : 'Save it'}
          codes={[
            [
              'curl',
              stored === undefined
                ? curl('/policies', 'POST', body)
                : curl(`/policies/${stored.policyId}`, 'PATCH', bodyOf(body)),
            ],
          ]}
          run={async () => {
            const saved =
              stored === undefined
                ? await call<Policy>('POST', '/policies', { body })
                : await call<Policy>('PATCH', `/policies/${stored.policyId}`, {
                    body: bodyOf(body),
                  })
            toast(`Saved ${saved.name}: it binds from the next sponsorship on`)
            if (stored === undefined) go(hrefOf(`policies/${saved.policyId}`), 'replace')
            else onSaved?.()
          }}
          onClose={dialog.hide}
        >
          <p>From the next sponsorship on; what is signed already stays signed.</p>
          {warnings.map((warning) => (
            <p key={warning} class="warn">
              {warning}
            </p>
          ))}
          <Difference before={stored === undefined ? '' : before} after={text.value} />
        </ActionDialog>
      )}
      {dialog.shown === 'delete' && stored !== undefined && (
        <ActionDialog
          title={`Delete ${stored.name}`}
          act="Delete it"
          look="danger"
          codes={[['curl', curl(`/policies/${stored.policyId}`, 'DELETE')]]}
          run={async () => {
            await call('DELETE', `/policies/${stored.policyId}`)
            toast(`Deleted ${stored.name}`)
            go(hrefOf('policies'))
          }}
          onClose={dialog.hide}
        >
          <p>
            Its counters go with it. Where no other policy binds{' '}
            {stored.appId === null ? 'an app' : 'the app'}, everything is sponsored from then on.
            Turning it off keeps it.
          </p>
        </ActionDialog>
      )}
    </div>
  )
}

function here(changes: Readonly<Record<string, string | undefined>>): string {
  return hrefOf(place.value.path, searchWith(changes))
}

/** What a change may say: a policy stays its app's. */
function bodyOf({ appId: _, ...changes }: Draft & { readonly terms: Terms | undefined }) {
  return changes
}

/** The word of the service on a draft, a moment after its last change; undefined = not known yet. */
function useCheck(
  text: string,
  { appId, position }: Draft,
  policyId: string | undefined,
  onValid: (text: string) => void,
): PolicyCheck | undefined {
  const answer = useSignal<PolicyCheck | undefined>(undefined)
  useEffect(() => {
    const terms = termsOf(text)
    answer.value = undefined
    if (terms === undefined || !mayAct('developer')) return
    const abort = new AbortController()
    const timer = setTimeout(() => {
      const owner = appId === null ? { of: 'account' } : { of: 'app', appId }
      const body = { terms, ...owner, policyId, position }
      call<PolicyCheck>('POST', '/policies/check', { body, signal: abort.signal })
        .then((checked) => {
          answer.value = checked
          if (checked.valid) onValid(text)
        })
        .catch((error: Error) => {
          if (!abort.signal.aborted) toast(error.message)
        })
    }, PAUSE)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [text, appId, position, policyId])
  return answer.value
}

function Mistakes({
  check,
  isJson,
}: {
  readonly check: PolicyCheck | undefined
  readonly isJson: boolean
}) {
  if (!isJson)
    return (
      <p class="trouble" role="alert">
        That is no JSON object.
      </p>
    )
  if (check === undefined || check.valid) return null
  return (
    <div class="trouble" role="alert">
      <ul class="mistakes" aria-label="Mistakes">
        {check.errors.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <code>{path || 'terms'}</code> {message}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The lines that a change takes away and adds. */
function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = lineDiff(before, after)
  if (lines.every(({ kind }) => kind === 'same'))
    return <p class="muted">The terms stay as they are.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre class="difference" tabIndex={0}>
      {lines.map(({ kind, text }, at) => (
        <span key={at} class={kind}>
          {kind === 'same' ? '  ' : kind === 'gone' ? '− ' : '+ '}
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}
