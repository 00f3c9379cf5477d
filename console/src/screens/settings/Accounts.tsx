import { accountId, call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import { chooseAccount } from '../../api/session.js'
import type { Account, Page } from '../../api/shapes.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Age } from '../../parts/Age.js'
import { Field } from '../../parts/Field.js'
import { OnceDialog } from '../../parts/OnceDialog.js'
import { toast } from '../../parts/toasts.js'
import { useOpen, useShown } from '../../parts/useOpen.js'
import { Section } from './Section.js'

/** All accounts of the instance; an operator may enter any, which the audit log keeps. */
export function Accounts() {
  const query = useQuery<Page<Account>>('/accounts')
  const making = useOpen()
  const secret = useShown<string>()
  const enter = ({ id, name }: Account) => {
    chooseAccount(id)
    toast(`You act in ${name}; the audit log says so`)
  }
  return (
    <>
      <Section
        title="Accounts"
        query={query}
        path="/accounts"
        command="purser account list"
        columns={[
          { name: 'Account', cell: ({ name }) => <strong>{name}</strong> },
          {
            name: 'State',
            cell: ({ id, revokedAt }) => {
              if (revokedAt !== null) return <span class="tag">ended</span>
              return id === accountId.value ? (
                <span class="tag good">you act here</span>
              ) : (
                <span class="tag">live</span>
              )
            },
          },
          { name: 'Id', shown: 'wide', cell: ({ id }) => <code>{id}</code> },
          { name: 'Created', shown: 'wide', cell: ({ createdAt }) => <Age at={createdAt} /> },
          {
            name: 'Actions',
            isNumber: true,
            cell: (account) =>
              account.revokedAt === null && (
                <button
                  type="button"
                  disabled={account.id === accountId.value}
                  onClick={() => enter(account)}
                >
                  Enter
                </button>
              ),
          },
        ]}
        keyOf={({ id }) => id}
        isOver={({ revokedAt }) => revokedAt !== null}
        empty="No account yet"
      >
        <button type="button" class="primary" onClick={making.open}>
          New account
        </button>
      </Section>
      {making.isOpen && (
        <ActionDialog
          title="New account"
          act="Create the account"
          codes={[
            ['curl', curl('/accounts', 'POST', { name: 'NAME' })],
            ['command', 'purser account create --name NAME'],
          ]}
          run={async (form) => {
            const body = { name: form.get('name') }
            const made = await call<{ authToken: string }>('POST', '/accounts', { body })
            secret.show(made.authToken)
            query.refresh()
          }}
          onClose={making.close}
        >
          <Field label="Name" hint="A customer or a team: it owns apps, policies and people.">
            <input name="name" required maxLength={100} autocomplete="off" />
          </Field>
        </ActionDialog>
      )}
      {secret.shown !== undefined && (
        <OnceDialog
          title="The account's authToken"
          text="It acts for the account as an admin, and for the webhook API. It is shown this once."
          values={[['authToken', secret.shown]]}
          onClose={secret.hide}
        />
      )}
    </>
  )
}
