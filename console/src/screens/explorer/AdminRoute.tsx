import { useSignal } from '@preact/signals'
import { callText, pathOf } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { Code } from '../../parts/Code.js'
import { Field } from '../../parts/Field.js'
import { Json } from '../../parts/Json.js'
import { Mistake } from '../../parts/Mistake.js'
import { useAct } from '../../parts/useAct.js'
import type { DescribedRoute } from './documents.js'

/** One route of the administration: a GET is asked here, a change and a stream are shown as code. */
export function AdminRoute({ route }: { readonly route: DescribedRoute }) {
  const values = useSignal<Readonly<Record<string, string>>>({})
  const answer = useSignal<string | undefined>(undefined)
  const { trouble, run } = useAct()
  const path = route.path.replace(/\{(\w+)\}/g, (whole, name) => values.value[name] || whole)
  const query = Object.fromEntries(route.inQuery.map((name) => [name, values.value[name]]))
  const isReading = route.method === 'GET'
  const isStream = route.format === 'events'
  const ask = async (): Promise<void> => {
    answer.value = await callText('GET', path, { query })
  }
  return (
    <>
      <h1>
        <code>{route.name}</code>
      </h1>
      <p>{route.summary}</p>
      <section class="card form-more">
        {[...route.inPath, ...route.inQuery].map((name) => (
          <Field key={name} label={name}>
            <input
              autocomplete="off"
              value={values.value[name] ?? ''}
              onInput={(event) => {
                values.value = { ...values.value, [name]: event.currentTarget.value }
              }}
            />
          </Field>
        ))}
        {isReading && !isStream ? (
          <div class="row">
            <button type="button" class="primary" onClick={() => void run(ask)}>
              Send
            </button>
            <span class="muted">As you, in this account.</span>
          </div>
        ) : (
          <p class="muted">
            {isStream
              ? 'It sends events for minutes: read them by the code below.'
              : 'Changes are made on their screens, or by the code below.'}
          </p>
        )}
        <Mistake text={trouble} />
      </section>
      {answer.value !== undefined && (
        <section class="card form-more" aria-label="Answer" aria-live="polite">
          <h2>Answer</h2>
          {route.format === 'lines' ? (
            <Code what="the lines" text={answer.value.trimEnd()} />
          ) : (
            <Json value={JSON.parse(answer.value)} />
          )}
        </section>
      )}
      <section class="card form-more">
        <h2>As code</h2>
        <Code
          what="the curl"
          text={curl(
            pathOf(path, query),
            route.method as 'GET' | 'POST' | 'PATCH' | 'DELETE',
            isReading || route.method === 'DELETE' ? undefined : {},
          )}
        />
      </section>
    </>
  )
}
