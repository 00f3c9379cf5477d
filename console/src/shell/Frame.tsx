import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { accountId } from '../api/call.js'
import { useQuery } from '../api/query.js'
import { chooseAccount, session, signOut } from '../api/session.js'
import type { Account as AccountAnswer } from '../api/shapes.js'
import { useKeys } from '../keys.js'
import { Empty } from '../parts/Empty.js'
import { Icon } from '../parts/Icon.js'
import { lazy } from '../parts/Lazy.js'
import { toast } from '../parts/toasts.js'
import { go, hrefOf, place } from '../router.js'
import { Home } from './Home.js'
import { KeySheet } from './KeySheet.js'
import { focusSearch, Search } from './Search.js'
import { nextTheme, theme } from './theme.js'

const Start = lazy(async () => (await import('../screens/start/Start.js')).Start)
const Operations = lazy(
  async () => (await import('../screens/operations/Operations.js')).Operations,
)
const Apps = lazy(async () => (await import('../screens/apps/Apps.js')).Apps)
const Audit = lazy(async () => (await import('../screens/audit/Audit.js')).Audit)
const Bundler = lazy(async () => (await import('../screens/bundler/Bundler.js')).Bundler)
const Explorer = lazy(async () => (await import('../screens/explorer/Explorer.js')).Explorer)
const Settings = lazy(async () => (await import('../screens/settings/Settings.js')).Settings)

const Overview = lazy(async () => (await import('../screens/overview/Overview.js')).Overview)
const Policies = lazy(async () => (await import('../screens/policies/Policies.js')).Policies)
const Tanks = lazy(async () => (await import('../screens/tanks/Tanks.js')).Tanks)
const Tokens = lazy(async () => (await import('../screens/tokens/Tokens.js')).Tokens)
const Webhooks = lazy(async () => (await import('../screens/webhooks/Webhooks.js')).Webhooks)

const screens = [
  { path: 'overview', name: 'Overview', icon: 'overview', keys: 'g v' },
  { path: 'start', name: 'Get started', icon: 'start', keys: 'g s' },
  { path: 'operations', name: 'Operations', icon: 'operations', keys: 'g o' },
  { path: 'policies', name: 'Policies', icon: 'policy', keys: 'g p' },
  { path: 'tanks', name: 'Tanks', icon: 'tank', keys: 'g t' },
  { path: 'tokens', name: 'Tokens', icon: 'token', keys: 'g m' },
  { path: 'webhooks', name: 'Webhooks', icon: 'webhook', keys: 'g w' },
  { path: 'apps', name: 'Apps and keys', icon: 'key', keys: 'g k' },
  { path: 'explorer', name: 'API explorer', icon: 'explorer', keys: 'g e' },
  { path: 'bundler', name: 'Bundler', icon: 'bundled', keys: 'g b' },
  { path: 'audit', name: 'Audit', icon: 'audit', keys: 'g a' },
  { path: 'settings', name: 'Settings', icon: 'people', keys: 'g ,' },
] as const

/** The frame of every screen: rail, search, account, and the screen itself. */
export function Frame() {
  const isHelpOpen = useSignal(false)
  const isMoreOpen = useSignal(false)
  const { path } = place.value
  useEffect(() => {
    isMoreOpen.value = false
  }, [path])
  useKeys('Everywhere', {
    '?': [
      'these keys',
      () => {
        isHelpOpen.value = true
      },
    ],
    '/': ['search', focusSearch],
    ...Object.fromEntries(
      screens
        .filter(isOffered)
        .map(({ path: to, name, keys }) => [keys, [name, () => go(hrefOf(to))] as const]),
    ),
  })
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <nav class="rail" aria-label="Screens">
        <a class="brand" href={hrefOf('')}>
          <span aria-hidden="true">P</span>
          Purser
        </a>
        <ScreenLinks from={0} to={FIRST} />
        <button
          type="button"
          class="more"
          aria-expanded={isMoreOpen.value}
          aria-controls="more-screens"
          aria-current={screens.slice(FIRST).some(isHere) ? 'true' : undefined}
          onClick={() => {
            isMoreOpen.value = !isMoreOpen.value
          }}
        >
          <Icon name="more" />
          More
        </button>
        <div id="more-screens" class={isMoreOpen.value ? 'others is-open' : 'others'}>
          <ScreenLinks from={FIRST} to={screens.length} />
        </div>
      </nav>
      <header class="top">
        <Search />
        <Account />
        <button
          type="button"
          class="plain"
          title="Keyboard shortcuts (?)"
          aria-label="Keyboard shortcuts"
          onClick={() => {
            isHelpOpen.value = true
          }}
        >
          <Icon name="keyboard" />
        </button>
        <button
          type="button"
          class="plain"
          title={`Theme: ${theme.value}`}
          aria-label={`Theme: ${theme.value}. Change it`}
          onClick={nextTheme}
        >
          <Icon name="sun" />
        </button>
        <button
          type="button"
          class="plain"
          title={`Sign out ${session.value?.user.email ?? ''}`}
          aria-label="Sign out"
          onClick={() => signOut().catch((error: Error) => toast(error.message))}
        >
          <Icon name="out" />
        </button>
      </header>
      <main id="content" tabIndex={-1}>
        <Screen path={path} />
      </main>
      {isHelpOpen.value && (
        <KeySheet
          onClose={() => {
            isHelpOpen.value = false
          }}
        />
      )}
    </div>
  )
}

/** Screens that a narrow window shows at once; the others stand behind More. */
const FIRST = 4

function isHere({ path }: { readonly path: string }): boolean {
  return place.value.path.split('/')[0] === path
}

function ScreenLinks({ from, to }: { readonly from: number; readonly to: number }) {
  return (
    <>
      {screens
        .slice(from, to)
        .filter(isOffered)
        .map((screen) => (
          <a
            key={screen.path}
            href={hrefOf(screen.path)}
            title={`${screen.name} (${screen.keys})`}
            aria-current={isHere(screen) ? 'page' : undefined}
          >
            <Icon name={screen.icon} />
            {screen.name}
          </a>
        ))}
    </>
  )
}

/** The bundler is the operator's. */
function isOffered({ path }: { readonly path: string }): boolean {
  return path !== 'bundler' || session.value?.user.isOperator === true
}

function Screen({ path }: { readonly path: string }) {
  const [first = ''] = path.split('/')
  if (first === '') return <Home />
  if (first === 'overview') return <Overview />
  if (first === 'policies') return <Policies />
  if (first === 'tanks') return <Tanks />
  if (first === 'tokens') return <Tokens />
  if (first === 'webhooks') return <Webhooks />
  if (first === 'start') return <Start />
  if (first === 'operations' || first === 'refusals' || first === 'decisions') return <Operations />
  if (first === 'apps') return <Apps />
  if (first === 'explorer') return <Explorer />
  if (first === 'bundler') return <Bundler />
  if (first === 'audit') return <Audit />
  if (first === 'settings') return <Settings />
  return (
    <Empty title="There is no such page">
      <p>
        <a href={hrefOf('')}>Go to the first one</a>
      </p>
    </Empty>
  )
}

/** The account in which the user acts: a choice where there are several. */
function Account() {
  const { memberships = [], user } = session.value ?? {}
  const membership = memberships.find((each) => each.accountId === accountId.value)
  const isGuest = accountId.value !== undefined && membership === undefined
  // An operator in the account of somebody else.
  const entered = useQuery<AccountAnswer>(isGuest ? '/me' : undefined)
  if (memberships.length < 2 || isGuest)
    return (
      <span class="account" title={user?.email}>
        {membership?.accountName ?? entered.data?.name ?? 'All accounts'}
      </span>
    )
  return (
    <select
      class="account"
      aria-label="Account"
      value={accountId.value}
      onChange={(event) => {
        chooseAccount(event.currentTarget.value)
        go(hrefOf(''))
      }}
    >
      {memberships.map((each) => (
        <option key={each.accountId} value={each.accountId}>
          {each.accountName}
        </option>
      ))}
    </select>
  )
}
