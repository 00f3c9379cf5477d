import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Trouble } from '../api/call.js'
import { loadSession, session } from '../api/session.js'
import { Skeleton } from '../parts/Skeleton.js'
import { Toasts } from '../parts/Toasts.js'
import { TroubleBanner } from '../parts/TroubleBanner.js'
import { go, hrefOf, place } from '../router.js'
import { Setup } from '../screens/signIn/Setup.js'
import { SignIn } from '../screens/signIn/SignIn.js'
import { Frame } from './Frame.js'

const trouble = signal<Trouble | undefined>(undefined)

/** Asks who is signed in; what goes wrong is shown. */
export async function begin(): Promise<void> {
  try {
    await loadSession()
    trouble.value = undefined
  } catch (error) {
    trouble.value = error instanceof Trouble ? error : new Trouble(0, String(error))
  }
}

/** Paths that need nobody to be signed in. */
export const openPaths = ['sign-in', 'setup']

/** The console: who is signed in, and the screen of the address. */
export function Shell() {
  const { path, search } = place.value
  useEffect(() => {
    // After signing in, the user returns to this address.
    if (session.value === null && !openPaths.includes(path))
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
