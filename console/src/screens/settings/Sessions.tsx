import { call } from '../../api/call.js'
import { useQuery } from '../../api/query.js'
import { session } from '../../api/session.js'
import type { Page, Session } from '../../api/shapes.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Age } from '../../parts/Age.js'
import { Field } from '../../parts/Field.js'
import { toast } from '../../parts/toasts.js'
import { useOpen } from '../../parts/useOpen.js'
import { Section } from './Section.js'

/** The sessions of the user who is signed in, and the password. */
export function Sessions() {
  const query = useQuery<Page<Session>>('/sessions')
  const changing = useOpen()
  const end = async (id: string): Promise<void> => {
    try {
      await call('DELETE', `/sessions/${id}`)
      toast('The session has ended')
      query.refresh()
    } catch (error) {
      toast((error as Error).message)
    }
  }
  const user = session.value?.user
  return (
    <>
      <section class="card row" aria-label="You">
        <div class="grow">
          <h2>{user?.email}</h2>
          <p class="muted">
            {user?.name}
            {user?.isOperator === true && ', operator of this instance'}
          </p>
        </div>
        {user?.hasPassword === true ? (
          <button type="button" onClick={changing.open}>
            Change password
          </button>
        ) : (
          <span class="muted">Signed in by the link of the start: there is no password.</span>
        )}
      </section>
      <Section
        title="Your sessions"
        query={query}
        path="/sessions"
        columns={[
          { name: 'From', cell: ({ ip }) => ip ?? 'unknown' },
          { name: 'Last seen', cell: ({ seenAt }) => <Age at={seenAt} /> },
          {
            name: 'Browser',
            shown: 'wide',
            cell: ({ agent }) => (
              <span class="cut" title={agent ?? undefined}>
                {agent ?? 'unknown'}
              </span>
            ),
          },
          {
            name: 'Actions',
            isNumber: true,
            cell: ({ id, isThis }) =>
              isThis ? (
                <span class="tag good">this one</span>
              ) : (
                <button type="button" onClick={() => void end(id)}>
                  End
                </button>
              ),
          },
        ]}
        keyOf={({ id }) => id}
        empty="No session"
      />
      {changing.isOpen && (
        <ActionDialog
          title="Change password"
          act="Change it"
          codes={[['command', `purser user password ${user?.email}`]]}
          run={async (form) => {
            const body = { current: form.get('current'), password: form.get('password') }
            await call('POST', '/password', { body })
            toast('Changed; all other sessions have ended')
            query.refresh()
          }}
          onClose={changing.close}
        >
          <Field label="Current password">
            <input name="current" type="password" autocomplete="current-password" required />
          </Field>
          <Field label="New password" hint="12 characters or more.">
            <input
              name="password"
              type="password"
              autocomplete="new-password"
              minLength={12}
              maxLength={128}
              required
            />
          </Field>
        </ActionDialog>
      )}
    </>
  )
}
