import { Empty } from '../parts/Empty.js'
import { type LazyScreen, lazy } from '../parts/Lazy.js'
import { hrefOf } from '../router.js'
import { Home } from './Home.js'

const operations = lazy(
  async () => (await import('../screens/operations/Operations.js')).Operations,
)

/** By the first word of the path; the code of each is loaded when it is shown first. */
const screens: Readonly<Record<string, LazyScreen>> = {
  overview: lazy(async () => (await import('../screens/overview/Overview.js')).Overview),
  start: lazy(async () => (await import('../screens/start/Start.js')).Start),
  operations,
  refusals: operations,
  decisions: operations,
  policies: lazy(async () => (await import('../screens/policies/Policies.js')).Policies),
  spending: lazy(async () => (await import('../screens/spending/Spending.js')).Spending),
  tanks: lazy(async () => (await import('../screens/tanks/Tanks.js')).Tanks),
  tokens: lazy(async () => (await import('../screens/tokens/Tokens.js')).Tokens),
  webhooks: lazy(async () => (await import('../screens/webhooks/Webhooks.js')).Webhooks),
  apps: lazy(async () => (await import('../screens/apps/Apps.js')).Apps),
  explorer: lazy(async () => (await import('../screens/explorer/Explorer.js')).Explorer),
  bundler: lazy(async () => (await import('../screens/bundler/Bundler.js')).Bundler),
  audit: lazy(async () => (await import('../screens/audit/Audit.js')).Audit),
  settings: lazy(async () => (await import('../screens/settings/Settings.js')).Settings),
}

function screenOf(path: string): LazyScreen | undefined {
  const [first = ''] = path.split('/')
  return Object.hasOwn(screens, first) ? screens[first] : undefined
}

/** Begins to load the code of a path's screen, before anything is drawn. */
export function loadScreen(path: string): void {
  screenOf(path)?.load()
}

/** The screen of a path. */
export function Screen({ path }: { readonly path: string }) {
  if (path === '') return <Home />
  const screen = screenOf(path)
  if (screen !== undefined) return <screen.Content />
  return (
    <Empty title="Page not found">
      <p>
        <a href={hrefOf('')}>Back to the start page</a>
      </p>
    </Empty>
  )
}
