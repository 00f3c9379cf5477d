import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { accountId } from '../api/call.js'
import { useNames } from '../api/names.js'
import { useQuery } from '../api/query.js'
import { chooseAccount, session, signOut } from '../api/session.js'
import type { Account as AccountAnswer } from '../api/shapes.js'
import { useKeys } from '../keys.js'
import { Icon } from '../parts/Icon.js'
import { Options } from '../parts/Options.js'
import { toast } from '../parts/toasts.js'
import { useOpen } from '../parts/useOpen.js'
import { go, hrefOf, place } from '../router.js'
import { KeySheet } from './KeySheet.js'
import { Screen } from './Screen.js'
import { focusSearch, Search } from './Search.js'
import { nextTheme, theme } from './theme.js'

const screens = [
  { path: 'overview', name: 'Overview', icon: 'overview', keys: 'g v' },
  { path: 'start', name: 'Get started', icon: 'start', keys: 'g s' },
  { path: 'operations', name: 'Operations', icon: 'operations', keys: 'g o' },
  { path: 'policies', name: 'Policies', icon: 'policy', keys: 'g p' },
  { path: 'tanks', name: 'Tanks', icon: 'tank', keys: 'g t' },
  { path: 'spending', name: 'Spending', icon: 'spending', keys: 'g $' },
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
  useNames()
  const help = useOpen()
  const isMoreOpen = useSignal(false)
  const { path } = place.value
  useEffect(() => {
    isMoreOpen.value = false
  }, [path])
  useKeys('Everywhere', {
    '?': ['these keys', help.open],
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
          onClick={help.open}
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
      {help.isOpen && <KeySheet onClose={help.close} />}
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
      <Options of={memberships.map((each) => [each.accountId, each.accountName])} />
    </select>
  )
}
