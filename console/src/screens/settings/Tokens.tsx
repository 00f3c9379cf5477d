import { accountId, call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import { mayAct } from '../../api/role.js'
import type { AuthToken, Page } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Age } from '../../parts/Age.js'
import { Empty } from '../../parts/Empty.js'
import { Field } from '../../parts/Field.js'
import { momentOf } from '../../parts/format.js'
import { OnceDialog } from '../../parts/OnceDialog.js'
import { Options } from '../../parts/Options.js'
import type { Column } from '../../parts/Table.js'
import { toast } from '../../parts/toasts.js'
import { useOpen, useShown } from '../../parts/useOpen.js'
import { RoleField } from './RoleField.js'
import { Section } from './Section.js'

const ends = [
  ['', 'never'],
  ['1', 'in a day'],
  ['30', 'in 30 days'],
  ['365', 'in a year'],
] as const

/** The tokens by which scripts act for the account. */
export function Tokens() {
  const query = useQuery<Page<AuthToken>>(mayAct('admin') ? '/auth-tokens' : undefined)
  const making = useOpen()
  const secret = useShown<string>()
  const ending = useShown<AuthToken>()
  if (!mayAct('admin'))
    return (
      <Empty title="Tokens need the role admin">
        <p>They act for the account, so only its admins see and make them.</p>
      </Empty>
    )
  const columns: readonly Column<AuthToken>[] = [
    { name: 'Token', cell: ({ name }) => <strong>{name}</strong> },
    { name: 'Role', cell: ({ role }) => <span class="tag">{role}</span> },
    {
      name: 'Ends with',
      shown: 'wide',
      cell: ({ last4 }) => (last4 === null ? '–' : <code>…{last4}</code>),
    },
    {
      name: 'Ends',
      shown: 'wide',
      cell: ({ expiresAt }) => (expiresAt === null ? 'never' : momentOf(expiresAt)),
    },
    {
      name: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Age at={lastUsedAt} />),
    },
    {
      name: 'Actions',
      isNumber: true,
      cell: (token) =>
        token.isFirst ? (
          <span class="muted" title="The operator replaces it: purser account token">
            the account's authToken
          </span>
        ) : (
          <ActButton needs="admin" onClick={() => ending.show(token)}>
            End
          </ActButton>
        ),
    },
  ]
  return (
    <>
      <Section
        title="Tokens"
        query={query}
        path="/auth-tokens"
        command={`purser auth-token list --account ${accountId.value}`}
        columns={columns}
        keyOf={({ id }) => id}
        empty="No token"
      >
        <ActButton needs="admin" look="primary" onClick={making.open}>
          New token
        </ActButton>
      </Section>
      {making.isOpen && (
        <ActionDialog
          title="New token"
          act="Create the token"
          codes={[
            ['curl', curl('/auth-tokens', 'POST', { name: 'NAME', role: 'viewer' })],
            [
              'command',
              `purser auth-token create --account ${accountId.value} --name NAME --role viewer`,
            ],
          ]}
          run={async (form) => {
            const days = Number(form.get('days'))
            const expiresAt =
              days === 0 ? null : new Date(Date.now() + days * 86_400_000).toISOString()
            const body = { name: form.get('name'), role: form.get('role'), expiresAt }
            const made = await call<{ authToken: string }>('POST', '/auth-tokens', { body })
            secret.show(made.authToken)
            query.refresh()
          }}
          onClose={making.close}
        >
          <Field label="Name" hint="What it is for.">
            <input name="name" required maxLength={100} autocomplete="off" />
          </Field>
          <RoleField value="viewer" />
          <Field label="Ends">
            <select name="days">
              <Options of={ends} />
            </select>
          </Field>
        </ActionDialog>
      )}
      {secret.shown !== undefined && (
        <OnceDialog
          title="The token"
          text="The service keeps only its hash. It is shown this once."
          values={[['token', secret.shown]]}
          onClose={secret.hide}
        />
      )}
      {ending.shown !== undefined && (
        <EndToken token={ending.shown} onDone={query.refresh} onClose={ending.hide} />
      )}
    </>
  )
}

type EndTokenProps = { readonly token: AuthToken; onDone(): void; onClose(): void }

function EndToken({ token, onDone, onClose }: EndTokenProps) {
  const path = `/auth-tokens/${token.id}`
  return (
    <ActionDialog
      title={`End ${token.name}`}
      act="End it"
      look="danger"
      codes={[
        ['curl', curl(path, 'DELETE')],
        ['command', `purser auth-token revoke ${token.id}`],
      ]}
      run={async () => {
        await call('DELETE', path)
        toast('The token ends within 2 seconds')
        onDone()
      }}
      onClose={onClose}
    >
      <p class="warn">Scripts that use it are refused within 2 seconds. This cannot be undone.</p>
    </ActionDialog>
  )
}
