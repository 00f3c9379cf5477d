import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { accountId } from '../../api/call.js'
import { useQuery } from '../../api/query.js'
import type { App, Chain, Page } from '../../api/shapes.js'
import { serviceUrl } from '../../api/site.js'
import { isNarrow } from '../../parts/isNarrow.js'
import { Loaded } from '../../parts/Loaded.js'
import { NoAccount } from '../../parts/NoAccount.js'
import { Mistake } from '../../parts/Mistake.js'
import { Skeleton } from '../../parts/Skeleton.js'
import { go, hrefOf, place, searchWith } from '../../router.js'
import { AdminRoute } from './AdminRoute.js'
import {
  type AdminDocument,
  type DescribedRoute,
  type RpcDocument,
  type RpcMethod,
  routesOf,
} from './documents.js'
import { MethodForm } from './MethodForm.js'
import './explorer.css'

/** The interface of apps and the administration, as the service describes them itself: `explorer?method=…`. */
export function Explorer() {
  const chains = useQuery<Page<Chain>>('/chains')
  const apps = useQuery<Page<App>>(accountId.value === undefined ? undefined : '/apps')
  const { data: document } = useQuery<AdminDocument>('/openapi.json')
  const routes = useMemo(() => routesOf(document), [document])
  const rpc = useSignal<RpcDocument | undefined>(undefined)
  const trouble = useSignal<string | undefined>(undefined)
  useEffect(() => {
    fetch(`${serviceUrl}/api/v3/openrpc.json`)
      .then((answer) => answer.json())
      .then((document) => {
        rpc.value = document as RpcDocument
      })
      .catch(() => {
        trouble.value = `The description of the interface could not be read from ${serviceUrl}.`
      })
  }, [])
  const { search } = place.value
  const wanted = search.get('method') ?? 'eth_supportedEntryPoints'
  const method = rpc.value?.methods.find(({ name }) => name === wanted)
  const route = routes.find(({ name }) => name === wanted)
  const app = apps.data?.items.find(({ revokedAt }) => revokedAt === null)
  if (accountId.value === undefined) return <NoAccount />
  return (
    <div class="explorer">
      <nav class="methods card" aria-label="Methods">
        <Methods methods={rpc.value?.methods ?? []} routes={routes} wanted={wanted} />
      </nav>
      <div class="screen">
        <Mistake text={trouble.value} />
        {rpc.value === undefined && trouble.value === undefined && <Skeleton lines={8} />}
        <Loaded query={chains} lines={2}>
          {({ items }) =>
            method !== undefined && (
              <MethodForm
                key={method.name}
                method={method}
                app={app}
                chainIds={items.map(({ chainId }) => chainId)}
              />
            )
          }
        </Loaded>
        {route !== undefined && <AdminRoute key={route.name} route={route} />}
      </div>
    </div>
  )
}

type MethodsProps = {
  readonly methods: readonly RpcMethod[]
  readonly routes: readonly DescribedRoute[]
  readonly wanted: string
}

/** All methods and routes, those that a text names. */
function Methods({ methods, routes, wanted }: MethodsProps) {
  const text = useSignal('')
  const fits = (name: string) => name.toLowerCase().includes(text.value.toLowerCase())
  const groups = [
    ['For apps (JSON-RPC)', methods],
    ['Administration (REST)', routes],
  ] as const
  return (
    <>
      <input
        type="search"
        aria-label="Find a method"
        placeholder="Find a method"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
      />
      {isNarrow.value ? (
        <select
          aria-label="Method"
          value={wanted}
          onChange={(event) =>
            go(hrefOf('explorer', searchWith({ method: event.currentTarget.value })))
          }
        >
          {groups.map(([title, items]) => (
            <optgroup key={title} label={title}>
              {items
                .filter(({ name }) => fits(name))
                .map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
            </optgroup>
          ))}
        </select>
      ) : (
        groups.map(([title, items]) => (
          <section key={title}>
            <h3>{title}</h3>
            <ul>
              {items
                .filter(({ name }) => fits(name))
                .map(({ name, summary }) => (
                  <li key={name}>
                    <a
                      href={hrefOf('explorer', { method: name })}
                      title={summary}
                      aria-current={name === wanted ? 'true' : undefined}
                    >
                      {name}
                    </a>
                  </li>
                ))}
            </ul>
          </section>
        ))
      )}
    </>
  )
}
