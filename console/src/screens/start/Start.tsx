import { useSignal } from '@preact/signals'
import { accountId, call } from '../../api/call.js'
import { useChanges } from '../../api/changes.js'
import { useQuery } from '../../api/query.js'
import { credentials } from '../../api/session.js'
import type { App, Chain, Key, Operation, Page } from '../../api/shapes.js'
import { serviceUrl } from '../../api/site.js'
import { ActButton } from '../../parts/ActButton.js'
import { Age } from '../../parts/Age.js'
import { Code } from '../../parts/Code.js'
import { Copyable } from '../../parts/Copyable.js'
import { Empty } from '../../parts/Empty.js'
import { shortOf } from '../../parts/format.js'
import { Options } from '../../parts/Options.js'
import { Skeleton } from '../../parts/Skeleton.js'
import { State, stateOf } from '../../parts/State.js'
import { TroubleBanner } from '../../parts/TroubleBanner.js'
import { toast } from '../../parts/toasts.js'
import { hrefOf } from '../../router.js'
import { endpointsOf, snippetsOf } from './snippets.js'

/** The words that stand for what only its owner has. */
const YOUR_KEY = 'YOUR_API_KEY'
const YOUR_TOKEN = 'shown once, when it is made'

/** The first screen of a newcomer: addresses, a first operation in each kit, and the wait for it. */
export function Start() {
  const chains = useQuery<Page<Chain>>('/chains')
  const apps = useQuery<Page<App>>(accountId.value === undefined ? undefined : '/apps')
  const chosen = useSignal<number | undefined>(undefined)
  const made = useSignal<string | undefined>(undefined)
  const trouble = chains.trouble ?? apps.trouble
  if (trouble !== undefined && chains.data === undefined)
    return <TroubleBanner trouble={trouble} onRetry={chains.refresh} />
  if (chains.data === undefined) return <Skeleton lines={8} />
  const [first] = chains.data.items
  if (first === undefined)
    return (
      <Empty title="No chain is served at the moment">
        <p>
          Purser goes on trying to reach the nodes of its chains. The command says what is missing:
        </p>
        <Code what="the command" text="purser check" />
      </Empty>
    )
  const chainId = chosen.value ?? first.chainId
  const app = apps.data?.items.find(({ revokedAt }) => revokedAt === null)
  const apiKey = made.value ?? credentials.value?.apiKey
  const endpoints = endpointsOf(serviceUrl, chainId, apiKey ?? YOUR_KEY)
  return (
    <div class="screen start">
      <h1>Get started</h1>
      <section class="card">
        <div class="row">
          <h2>1. Your endpoints</h2>
          {chains.data.items.length > 1 && (
            <select
              aria-label="Chain"
              value={chainId}
              onChange={(event) => {
                chosen.value = Number(event.currentTarget.value)
              }}
            >
              <Options of={chains.data.items.map((each) => [each.chainId, each.name])} />
            </select>
          )}
        </div>
        <dl class="endpoints">
          <Copyable name="Bundler URL" value={endpoints.bundlerUrl} />
          <Copyable name="Paymaster URL" value={endpoints.paymasterUrl} />
          <Copyable name="Standard URL (for viem)" value={endpoints.standardUrl} />
          <Copyable name="apiKey" value={apiKey} otherwise={YOUR_KEY} />
          <Copyable
            name="authToken (webhook API)"
            value={credentials.value?.authToken}
            otherwise={YOUR_TOKEN}
          />
        </dl>
        {apiKey === undefined && <NewKey app={app} made={made} />}
      </section>
      <Snippets endpoints={endpoints} />
      <FirstOperation apps={app === undefined ? [] : [app.id]} />
    </div>
  )
}

type NewKeyProps = {
  readonly app: App | undefined
  readonly made: { value: string | undefined }
}

/** Makes a key for the app and fills it in: the service keeps its hash only. */
function NewKey({ app, made }: NewKeyProps) {
  const keys = useQuery<Page<Key>>(app && `/apps/${app.id}/keys`)
  if (app === undefined)
    return (
      <p class="muted">
        Keys belong to an app. <a href={hrefOf('apps')}>Create one</a>
      </p>
    )
  const live = keys.data?.items.filter(({ revokedAt }) => revokedAt === null) ?? []
  const make = async (): Promise<void> => {
    const body = { name: 'console' }
    const shown = await call<{ apiKey: string }>('POST', `/apps/${app.id}/keys`, { body })
    made.value = shown.apiKey
    toast('Created a key. It is shown until you leave this page.')
  }
  return (
    <div class="row">
      <p class="muted">
        {live.length === 0
          ? `${app.name} has no key yet.`
          : `${app.name} has ${live.length === 1 ? 'the key' : 'keys'} ${live
              .map(({ last4 }) => `…${last4}`)
              .join(', ')}; the service keeps only their hashes.`}
      </p>
      <ActButton needs="developer" onClick={make}>
        Make a key
      </ActButton>
    </div>
  )
}

function Snippets({ endpoints }: { readonly endpoints: ReturnType<typeof endpointsOf> }) {
  const chosen = useSignal('viem')
  const snippets = snippetsOf(endpoints)
  const { name, packages, code } = snippets.find((each) => each.name === chosen.value) ?? {
    name: '',
    packages: '',
    code: '',
  }
  return (
    <section class="card">
      <h2>2. Send an operation that Purser pays for</h2>
      <div class="snippets">
        {snippets.map((each) => (
          <button
            key={each.name}
            type="button"
            aria-pressed={each.name === name}
            onClick={() => {
              chosen.value = each.name
            }}
          >
            {each.name}
          </button>
        ))}
      </div>
      {packages !== '' && (
        <p class="muted">
          Save it as <code>first.mjs</code>, then <code>{packages}</code> and{' '}
          <code>node first.mjs</code>.
        </p>
      )}
      <Code what={`the ${name} code`} text={code} />
    </section>
  )
}

/** Waits for the first operation, and shows it as soon as it is there. */
function FirstOperation({ apps }: { readonly apps: readonly string[] }) {
  const { data, trouble, refresh } = useQuery<Page<Operation>>('/operations', { limit: '5' })
  useChanges(refresh, true, apps)
  return (
    <section class="card" aria-live="polite">
      <h2>3. See the result</h2>
      <TroubleBanner trouble={trouble} onRetry={refresh} />
      {data !== undefined && data.items.length === 0 && (
        <p class="waiting">
          <span class="pulse" aria-hidden="true" />
          Waiting for your first operation. It appears here by itself.
        </p>
      )}
      {data !== undefined && data.items.length > 0 && (
        <>
          <ul class="latest">
            {data.items.map((operation) => (
              <li key={operation.userOpHash}>
                <a href={hrefOf(`operations/${operation.chainId}/${operation.userOpHash}`)}>
                  <State name={stateOf(operation)} />
                  <code>{shortOf(operation.userOpHash)}</code>
                  <span class="muted">
                    from <code>{shortOf(operation.sender)}</code>
                  </span>
                  <Age at={operation.receivedAt} />
                </a>
              </li>
            ))}
          </ul>
          <p>
            <a class="more" href={hrefOf('operations')}>
              All operations
            </a>
          </p>
        </>
      )}
    </section>
  )
}
