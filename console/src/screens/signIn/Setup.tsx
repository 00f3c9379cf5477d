import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { acceptInvitation } from '../../api/session.js'
import { go, hrefOf } from '../../router.js'
import { Gate } from './Gate.js'

/** The shortest password; the service has the last word. */
const SHORTEST = 12

/** Chooses a password by an invitation, whose token stands behind the `#`, and signs in. */
export function Setup() {
  const token = useMemo(() => {
    const text = location.hash.slice(1)
    history.replaceState(null, '', location.pathname)
    return text
  }, [])
  const trouble = useSignal<string | undefined>(
    token === ''
      ? 'This address lacks its token: open the whole link, with what follows #.'
      : undefined,
  )
  const isBusy = useSignal(false)
  const submit = async (form: HTMLFormElement): Promise<void> => {
    isBusy.value = true
    trouble.value = undefined
    try {
      await acceptInvitation(token, String(new FormData(form).get('password')))
      go(hrefOf(''), 'replace')
    } catch (error) {
      trouble.value = (error as Error).message
      isBusy.value = false
    }
  }
  return (
    <Gate title="Choose a password" trouble={trouble.value}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit(event.currentTarget)
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
            {SHORTEST} characters or more. Existing users enter their current one.
          </span>
        </label>
        <button type="submit" class="primary" disabled={isBusy.value || token === ''}>
          {isBusy.value ? 'Setting up…' : 'Set up and sign in'}
        </button>
      </form>
    </Gate>
  )
}
