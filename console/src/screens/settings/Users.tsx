import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import { session } from '../../api/session.js'
import type { Page, User } from '../../api/shapes.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Age } from '../../parts/Age.js'
import { Field } from '../../parts/Field.js'
import { OnceDialog } from '../../parts/OnceDialog.js'
import type { Column } from '../../parts/Table.js'
import { toast } from '../../parts/toasts.js'
import { useOpen, useShown } from '../../parts/useOpen.js'
import { Section } from './Section.js'
import { setupUrl } from './setupUrl.js'

/** All users of the instance. */
export function Users() {
  const query = useQuery<Page<User>>('/users')
  const making = useOpen()
  const link = useShown<string>()
  const change = async (user: User, body: Readonly<Record<string, boolean>>): Promise<void> => {
    try {
      await call('PATCH', `/users/${user.id}`, { body })
      toast('Saved; it counts at once')
      query.refresh()
    } catch (error) {
      toast((error as Error).message)
    }
  }
  const columns: readonly Column<User>[] = [
    { name: 'User', cell: ({ email }) => <strong>{email}</strong> },
    {
      name: 'State',
      cell: ({ disabledAt, isOperator }) => {
        if (disabledAt !== null) return <span class="tag bad">disabled</span>
        return (
          <span class={isOperator ? 'tag good' : 'tag'}>{isOperator ? 'operator' : 'user'}</span>
        )
      },
    },
    { name: 'Name', shown: 'wide', cell: ({ name }) => name },
    { name: 'Created', shown: 'wide', cell: ({ createdAt }) => <Age at={createdAt} /> },
    {
      name: 'Actions',
      isNumber: true,
      cell: (user) =>
        user.id === session.value?.user.id ? (
          <span class="muted">you</span>
        ) : (
          <span class="cell-acts">
            <button
              type="button"
              onClick={() => void change(user, { isOperator: !user.isOperator })}
            >
              {user.isOperator ? 'Make a user' : 'Make operator'}
            </button>
            <button
              type="button"
              onClick={() => void change(user, { isDisabled: user.disabledAt === null })}
            >
              {user.disabledAt === null ? 'Disable' : 'Enable'}
            </button>
          </span>
        ),
    },
  ]
  return (
    <>
      <Section
        title="Users"
        query={query}
        path="/users"
        command="purser user list"
        columns={columns}
        keyOf={({ id }) => id}
        isOver={({ disabledAt }) => disabledAt !== null}
        empty="No user"
      >
        <button type="button" class="primary" onClick={making.open}>
          New user
        </button>
      </Section>
      {making.isOpen && (
        <ActionDialog
          title="New user"
          act="Create the user"
          codes={[
            ['curl', curl('/users', 'POST', { email: 'EMAIL', name: 'NAME' })],
            ['command', 'purser user create --email EMAIL --name NAME'],
          ]}
          run={async (form) => {
            const isOperator = form.get('isOperator') === 'on'
            const body = { email: form.get('email'), name: form.get('name'), isOperator }
            const made = await call<{ token: string }>('POST', '/users', { body })
            link.show(setupUrl(made.token))
            query.refresh()
          }}
          onClose={making.close}
        >
          <Field label="E-mail address">
            <input name="email" type="email" required maxLength={254} autocomplete="off" />
          </Field>
          <Field label="Name">
            <input name="name" required maxLength={100} autocomplete="off" />
          </Field>
          <label class="check">
            <input type="checkbox" name="isOperator" />
            operator: all accounts, the bundler, all users
          </label>
        </ActionDialog>
      )}
      {link.shown !== undefined && (
        <OnceDialog
          title="The setup link"
          text="The user chooses a password by it, once and within a day. It is shown this once."
          values={[['link', link.shown]]}
          onClose={link.hide}
        />
      )}
    </>
  )
}
