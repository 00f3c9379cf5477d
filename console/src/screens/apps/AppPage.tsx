import { chainName } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import { credentials } from '../../api/session.js'
import type { App, Chain, Page } from '../../api/shapes.js'
import { serviceUrl } from '../../api/site.js'
import { ActButton } from '../../parts/ActButton.js'
import { Copyable } from '../../parts/Copyable.js'
import { Hex } from '../../parts/Hex.js'
import { Loaded } from '../../parts/Loaded.js'
import { useOpen } from '../../parts/useOpen.js'
import { hrefOf } from '../../router.js'
import { endpointsOf } from '../start/snippets.js'
import { EditApp, EndApp } from './appDialogs.js'
import { Contracts } from './Contracts.js'
import { Keys } from './Keys.js'
import { Pays } from './Pays.js'
import { quotasOf } from './quotasOf.js'

/** One app: its URLs on each chain, its keys, and what can be changed about it. */
export function AppPage({
  appId,
  keyId,
}: {
  readonly appId: string
  readonly keyId: string | undefined
}) {
  const query = useQuery<App>(`/apps/${appId}`)
  const editing = useOpen()
  const ending = useOpen()
  const naming = useOpen()
  return (
    <div class="screen">
      <nav class="crumbs" aria-label="Where you are">
        <a href={hrefOf('apps')}>Apps</a>
        <span class="muted" aria-hidden="true">
          /
        </span>
        <h1>{query.data?.name ?? 'App'}</h1>
        <span class="grow" />
        {query.data !== undefined && (
          <span class="actions">
            <ActButton needs="admin" onClick={editing.open}>
              Edit
            </ActButton>
            <ActButton needs="developer" onClick={naming.open}>
              Contracts…
            </ActButton>
            <ActButton needs="admin" onClick={ending.open}>
              End the app
            </ActButton>
          </span>
        )}
      </nav>
      <Loaded query={query} lines={8}>
        {(app) => (
          <>
            <p class="muted facts-line">
              <span>
                Id <Hex value={app.id} what="the id of the app" />
              </span>
              <span>Requests of all keys: {quotasOf(app.quotas)}</span>
              <span>
                Sponsor shown by wallets:{' '}
                {app.sponsor === null ? 'none' : <strong>{app.sponsor.name}</strong>}
              </span>
            </p>
            <Urls />
            <Keys app={app} openId={keyId} />
            <Pays app={app} />
            {editing.isOpen && <EditApp app={app} onDone={query.refresh} onClose={editing.close} />}
            {naming.isOpen && <Contracts app={app} onClose={naming.close} />}
            {ending.isOpen && <EndApp app={app} onClose={ending.close} />}
          </>
        )}
      </Loaded>
    </div>
  )
}

/** The word that stands for a key. */
const YOUR_KEY = 'YOUR_API_KEY'

/** The URLs of the app on each chain, to be completed with a key of its own. */
function Urls() {
  const chains = useQuery<Page<Chain>>('/chains')
  const apiKey = credentials.value?.apiKey
  return (
    <section class="card" aria-label="URLs">
      <div class="card-head">
        <h2>URLs</h2>
      </div>
      <Loaded query={chains} lines={4}>
        {({ items }) => (
          <>
            {items.map(({ chainId, entryPoints }) => {
              const { bundlerUrl, paymasterUrl, standardUrl } = endpointsOf(
                serviceUrl,
                chainId,
                YOUR_KEY,
              )
              return (
                <div key={chainId} class="chain-urls">
                  <h3>
                    {chainName(chainId)} · EntryPoint{' '}
                    {entryPoints.map(({ version }) => version).join(', ')}
                  </h3>
                  <dl class="endpoints">
                    {(
                      [
                        ['Standard (viem, permissionless)', standardUrl],
                        ['Bundler (Biconomy)', bundlerUrl],
                        ['Paymaster (Biconomy)', paymasterUrl],
                      ] as const
                    ).map(([name, url]) => (
                      <Copyable key={name} name={name} value={url} what={`the URL: ${name}`} />
                    ))}
                  </dl>
                </div>
              )
            })}
            <p class="muted">
              <code>{YOUR_KEY}</code> is a key of this app; the service keeps only its hash, so each
              key is shown once, when it is created.
              {apiKey !== undefined && ' The key of the development app is on Get started.'}
            </p>
          </>
        )}
      </Loaded>
    </section>
  )
}
