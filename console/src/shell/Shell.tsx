import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Trouble } from '../api/call.js'
import { loadSession, session } from '../api/session.js'
import { isReader } from '../api/share.js'
import { lazy } from '../parts/Lazy.js'
import { Skeleton } from '../parts/Skeleton.js'
import { Toasts } from '../parts/Toasts.js'
import { TroubleBanner } from '../parts/TroubleBanner.js'
import { go, hrefOf, place } from '../router.js'
import { Setup } from '../screens/signIn/Setup.js'
import { SignIn } from '../screens/signIn/SignIn.js'
import { Frame } from './Frame.js'

const Shared = lazy(async () => (await import('../screens/operations/Shared.js')).Shared)

const trouble = signal<Trouble | undefined>(undefined)

/** Asks who is signed in; what goes wrong is shown. */
export async function begin(): Promise<void> {
  // A reader is nobody, whatever session the browser has.
  if (isReader) return
  try {
    await loadSession()
    trouble.value = undefined
  } catch (error) {
    trouble.value = error instanceof Trouble ? error : new Trouble(0, String(error))
  }
}

/** Paths that need nobody to be signed in. */
const openPaths = ['sign-in', 'setup']

/** Whether a path needs nobody to be signed in. */
export function isOpen(path: string): boolean {
  return isReader || openPaths.includes(path)
}

/** The console: who is signed in, and the screen of the address. */
export function Shell() {
  const { path, search } = place.value
  useEffect(() => {
    // After signing in, the user returns to this address.
    if (session.value === null && !isOpen(path))
      go(
        hrefOf('sign-in', { back: path === '' ? undefined : `${path}${location.search}` }),
        'replace',
      )
    if (session.value && path === 'sign-in' && location.hash === '') goBack(search.get('back'))
  }, [session.value, path])
  return (
    <>
      <Content path={path} />
      <Toasts />
    </>
  )
}

function Content({ path }: { readonly path: string }) {
  if (trouble.value !== undefined)
    return (
      <main class="gate">
        <TroubleBanner trouble={trouble.value} onRetry={() => void begin()} />
      </main>
    )
  if (path === 'sign-in') return <SignIn />
  if (path === 'setup') return <Setup />
  if (isReader) return <Shared.Content />
  if (!session.value)
    return (
      <main class="gate">
        <Skeleton lines={3} />
      </main>
    )
  return <Frame />
}

/** Goes to a path of the console that the address of the sign-in named, never elsewhere. */
function goBack(back: string | null): void {
  const [path = '', search = ''] = (back ?? '').split('?')
  const isPath = /^[a-z0-9/-]*$/i.test(path) && !path.startsWith('/')
  go(isPath ? hrefOf(path, Object.fromEntries(new URLSearchParams(search))) : hrefOf(''), 'replace')
}
