import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { signIn, signInByLink } from '../../api/session.js'
import { providerName } from '../../api/site.js'
import { place } from '../../router.js'
import { Gate } from './Gate.js'

/** Signs in by password, or by the link that a development start printed: its token stands behind the `#`. */
export function SignIn() {
  const trouble = useSignal<string | undefined>(takeProblem())
  const isBusy = useSignal(location.hash !== '')
  useEffect(() => {
    const token = location.hash.slice(1)
    if (token === '') return
    // The token leaves the address before anything else happens.
    history.replaceState(null, '', location.pathname)
    signInByLink(token)
      .then(() => {
        place.value = { ...place.value }
      })
      .catch((error: Error) => {
        trouble.value = `${error.message}. Each start of the service prints a new link; or sign in.`
        isBusy.value = false
      })
  }, [])
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const data = new FormData(form)
    isBusy.value = true
    trouble.value = undefined
    try {
      await signIn(String(data.get('email')), String(data.get('password')))
    } catch (error) {
      trouble.value = (error as Error).message
      isBusy.value = false
    }
  }
  return (
    <Gate title="Sign in" trouble={trouble.value}>
      {providerName !== '' && (
        <button type="button" class="primary" onClick={() => location.assign('oidc')}>
          Sign in with {providerName}
        </button>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit(event.currentTarget)
        }}
      >
        <label>
          E-mail address
          <input name="email" type="email" autocomplete="username" required />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        <button type="submit" class="primary" disabled={isBusy.value}>
          {isBusy.value ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      <details>
        <summary>No user yet?</summary>
        <p>
          <code>npm start</code> prints a link that signs you in. Elsewhere an operator makes the
          first user, who chooses a password by the link that this prints:
        </p>
        <pre>purser user create --operator --email you@example.com</pre>
      </details>
    </Gate>
  )
}

/** Why the identity provider's way ended here. */
const problems: Readonly<Record<string, string>> = {
  away: `${providerName} cannot be asked at present. Try again, or sign in by password.`,
  late: 'That took longer than ten minutes, or began in another browser. Try again.',
  refused: `${providerName} rejected the sign-in. Try again.`,
  unknown: `${providerName} knows you, but no user here has this identity. Ask an administrator for an invitation.`,
  busy: 'Too many sign-ins. Try again tomorrow, or end some sessions.',
}

/** The problem that the address names, which leaves it. */
function takeProblem(): string | undefined {
  const url = new URL(location.href)
  const problem = url.searchParams.get('problem')
  if (problem === null) return undefined
  url.searchParams.delete('problem')
  history.replaceState(null, '', url)
  return problems[problem]
}
