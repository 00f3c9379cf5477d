import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { chainName } from '../../api/names.js'
import { credentials } from '../../api/session.js'
import type { App } from '../../api/shapes.js'
import { serviceUrl } from '../../api/site.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Code } from '../../parts/Code.js'
import { Field } from '../../parts/Field.js'
import { Json } from '../../parts/Json.js'
import { Options } from '../../parts/Options.js'
import { Mistake } from '../../parts/Mistake.js'
import { useAct } from '../../parts/useAct.js'
import { useOpen } from '../../parts/useOpen.js'
import { endpointsOf } from '../start/snippets.js'
import type { RpcMethod } from './documents.js'
import { explorerKey, madeKey } from './explorerKey.js'

/** Methods after which money may be spent: they ask first. */
const spending = [
  'eth_sendUserOperation',
  'debug_bundler_addUserOps',
  'debug_bundler_sendBundleNow',
]

type MethodFormProps = {
  readonly method: RpcMethod
  readonly app: App | undefined
  readonly chainIds: readonly number[]
}

type Answer = { readonly status: number; readonly milliseconds: number; readonly body: unknown }

/** One JSON-RPC method: its parameters to edit, and what the service answers. */
export function MethodForm({ method, app, chainIds }: MethodFormProps) {
  const [example] = method.examples
  const params = useSignal(JSON.stringify(example?.params.map(({ value }) => value) ?? [], null, 2))
  const chainId = useSignal(chainIds[0])
  const answer = useSignal<Answer | undefined>(undefined)
  const { trouble, run } = useAct()
  const asking = useOpen()
  const apiKey = explorerKey.value ?? credentials.value?.apiKey
  const url = endpointsOf(serviceUrl, chainId.value ?? 0, apiKey ?? 'YOUR_API_KEY').standardUrl
  const body = () => ({ jsonrpc: '2.0', id: 1, method: method.name, params: read(params.value) })
  const send = () =>
    run(async () => {
      const text = JSON.stringify(body())
      const begun = performance.now()
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url, { method: 'POST', headers, body: text })
      answer.value = {
        status: response.status,
        body: await response.json(),
        milliseconds: performance.now() - begun,
      }
    })
  const ask = () => {
    if (spending.includes(method.name)) asking.open()
    else void send()
  }
  return (
    <>
      <h1>
        <code>{method.name}</code>
      </h1>
      <p>
        {method.summary}{' '}
        <span class="muted">
          For keys with the scope {method['x-scope']}; costs {method['x-cost']} of the limits.
        </span>
      </p>
      <section class="card form-more">
        <div class="row">
          {chainIds.length > 1 && (
            <select
              aria-label="Chain"
              value={chainId.value}
              onChange={(event) => {
                chainId.value = Number(event.currentTarget.value)
              }}
            >
              <Options of={chainIds.map((id) => [id, chainName(id)])} />
            </select>
          )}
          <KeyChoice app={app} hasKey={apiKey !== undefined} />
        </div>
        <Field
          label="Parameters"
          hint={`A list: ${method.params.map(({ name, required }) => (required ? name : `${name}?`)).join(', ') || 'none'}`}
        >
          <textarea
            rows={Math.min(16, params.value.split('\n').length + 1)}
            spellcheck={false}
            value={params.value}
            onInput={(event) => {
              params.value = event.currentTarget.value
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
              event.preventDefault()
              if (apiKey !== undefined) ask()
            }}
          />
        </Field>
        <div class="row">
          <button type="button" class="primary" disabled={apiKey === undefined} onClick={ask}>
            Send
          </button>
          <span class="muted">Ctrl Enter sends too.</span>
        </div>
        <Mistake text={trouble} />
      </section>
      {answer.value !== undefined && (
        <section class="card form-more" aria-label="Answer" aria-live="polite">
          <h2>
            Answer{' '}
            <span class="muted">
              {answer.value.status} in {answer.value.milliseconds.toFixed(0)} ms
            </span>
          </h2>
          <Json value={answer.value.body} />
        </section>
      )}
      <section class="card form-more">
        <h2>As code</h2>
        <Code what="the curl" text={curlOf(url, method.name, params.value)} />
        <Code what="the viem" text={viemOf(url, method.name, params.value)} />
      </section>
      <details class="card">
        <summary>Errors that it can give ({method.errors.length})</summary>
        <ul class="errors">
          {method.errors.map(({ code, message }) => (
            <li key={code}>
              <code>{code}</code> {message}
            </li>
          ))}
        </ul>
      </details>
      {asking.isOpen && (
        <ActionDialog
          title={`Send ${method.name}`}
          act="Send it"
          codes={[['curl', curlOf(url, method.name, params.value)]]}
          run={send}
          onClose={asking.close}
        >
          <p class="warn">This sends the operation to the chain and spends real gas.</p>
        </ActionDialog>
      )}
    </>
  )
}

/** The parameters of a text. Throws Error that says what is wrong. */
function read(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return value
  } catch {}
  throw new Error('The parameters are no list of JSON.')
}

function curlOf(url: string, method: string, params: string): string {
  const list = params.replace(/\s*\n\s*/g, ' ').replaceAll("'", "'\\''")
  const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${list}}`
  return `curl -s '${url}' \\\n  -H 'content-type: application/json' \\\n  -d '${body}'`
}

function viemOf(url: string, method: string, params: string): string {
  return `import { createClient, http } from 'viem'

const client = createClient({ transport: http('${url}') })
console.log(await client.request({ method: '${method}', params: ${params} }))`
}

type KeyChoiceProps = { readonly app: App | undefined; readonly hasKey: boolean }

/** Makes a key that ends in an hour, and keeps it in this tab only. */
function KeyChoice({ app, hasKey }: KeyChoiceProps) {
  if (hasKey)
    return (
      <span class="muted">
        {explorerKey.value === undefined
          ? 'With the key of the development app.'
          : 'With a key that ends in an hour, kept in this tab.'}
      </span>
    )
  const make = async (): Promise<void> => {
    const endsAt = Date.now() + 3_600_000
    const body = { name: 'console explorer', expiresAt: new Date(endsAt).toISOString() }
    const made = await call<{ apiKey: string }>('POST', `/apps/${app?.id}/keys`, { body })
    madeKey.value = { key: made.apiKey, endsAt }
  }
  if (app === undefined) return <span class="muted">Requests need a key, and keys an app.</span>
  return (
    <>
      <ActButton needs="developer" onClick={make}>
        Make a key of {app.name} for an hour
      </ActButton>
      <span class="muted">Requests need a key.</span>
    </>
  )
}
