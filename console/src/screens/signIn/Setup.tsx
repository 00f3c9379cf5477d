import { useMemo } from 'preact/hooks'
import { acceptInvitation, joinByInvitation, session } from '../../api/session.js'
import { useAct } from '../../parts/useAct.js'
import { go, hrefOf } from '../../router.js'
import { Gate } from './Gate.js'

/** The shortest password; the service has the last word. */
const SHORTEST = 12

const NO_TOKEN = 'This address lacks its token: open the whole link, with what follows #.'

/**
 * Accepts an invitation, whose token stands behind the `#`: as the user who is signed in, or with a password, which signs
 * in.
 */
export function Setup() {
  const token = useMemo(() => {
    const text = location.hash.slice(1)
    history.replaceState(null, '', location.pathname)
    return text
  }, [])
  const { isBusy, trouble, run } = useAct()
  const user = session.value?.user
  const accept = (by: () => Promise<void>) =>
    run(async () => {
      await by()
      go(hrefOf(''), 'replace')
    })
  return (
    <Gate
      title={user === undefined ? 'Choose a password' : 'Accept the invitation'}
      trouble={token === '' ? NO_TOKEN : trouble}
    >
      {user !== undefined && (
        <>
          <p>
            <button
              type="button"
              class="primary"
              disabled={isBusy || token === ''}
              onClick={() => void accept(() => joinByInvitation(token))}
            >
              Accept as {user.email}
            </button>
          </p>
          <p class="muted">Or with the password of the user who was invited:</p>
        </>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const password = String(new FormData(event.currentTarget).get('password'))
          void accept(() => acceptInvitation(token, password))
        }}
      >
        <label>
          Password
          <input
            name="password"
            type="password"
            autocomplete="new-password"
            minLength={SHORTEST}
            maxLength={128}
            required
            disabled={token === ''}
          />
          <span class="muted">
            {SHORTEST} characters or more. Existing users enter their current one; without one, they
            sign in, then open the link again.
          </span>
        </label>
        <button type="submit" class="primary" disabled={isBusy || token === ''}>
          {isBusy ? 'Setting up…' : 'Set up and sign in'}
        </button>
      </form>
    </Gate>
  )
}
