import { accountId, call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import { mayAct } from '../../api/role.js'
import { session } from '../../api/session.js'
import type { Invitation, Member, Page } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Age } from '../../parts/Age.js'
import { Field } from '../../parts/Field.js'
import { momentOf } from '../../parts/format.js'
import { OnceDialog } from '../../parts/OnceDialog.js'
import type { Column } from '../../parts/Table.js'
import { toast } from '../../parts/toasts.js'
import { useOpen, useShown } from '../../parts/useOpen.js'
import { RoleField } from './RoleField.js'
import { Section } from './Section.js'
import { setupUrl } from './setupUrl.js'

/** Who has a role in the account, and who was offered one. */
export function Members() {
  const members = useQuery<Page<Member>>('/members')
  const invitations = useQuery<Page<Invitation>>(mayAct('admin') ? '/invitations' : undefined)
  const inviting = useOpen()
  const link = useShown<string>()
  const changing = useShown<Member>()
  const leaving = useShown<Member>()
  const columns: readonly Column<Member>[] = [
    {
      name: 'Who',
      cell: ({ email, userId }) => (
        <>
          <strong>{email}</strong>
          {userId === session.value?.user.id && <span class="muted"> (you)</span>}
        </>
      ),
    },
    { name: 'Role', cell: ({ role }) => <span class="tag">{role}</span> },
    { name: 'Name', shown: 'wide', cell: ({ name }) => name },
    { name: 'Since', shown: 'wide', cell: ({ createdAt }) => <Age at={createdAt} /> },
    {
      name: 'Actions',
      isNumber: true,
      cell: (member) => (
        <span class="cell-acts">
          <ActButton needs="admin" onClick={() => changing.show(member)}>
            Change role
          </ActButton>
          <ActButton needs="admin" onClick={() => leaving.show(member)}>
            Remove
          </ActButton>
        </span>
      ),
    },
  ]
  return (
    <>
      <Section
        title="Members"
        query={members}
        path="/members"
        columns={columns}
        keyOf={({ userId }) => userId}
        isOver={({ disabledAt }) => disabledAt !== null}
        empty="Nobody is a member: operators enter the account, and scripts by its token"
      >
        <ActButton needs="admin" look="primary" onClick={inviting.open}>
          Invite
        </ActButton>
      </Section>
      {mayAct('admin') && <Invitations query={invitations} />}
      {inviting.isOpen && (
        <ActionDialog
          title="Invite to the account"
          act="Create the link"
          codes={[
            ['curl', curl('/invitations', 'POST', { email: 'EMAIL', role: 'viewer' })],
            [
              'command',
              `purser user invite --account ${accountId.value} --email EMAIL --role viewer`,
            ],
          ]}
          run={async (form) => {
            const body = { email: form.get('email'), role: form.get('role') }
            const made = await call<{ token: string }>('POST', '/invitations', { body })
            link.show(setupUrl(made.token))
            invitations.refresh()
          }}
          onClose={inviting.close}
        >
          <Field label="E-mail address" hint="Purser sends no mail: you hand the link on.">
            <input name="email" type="email" required maxLength={254} autocomplete="off" />
          </Field>
          <RoleField value="viewer" />
        </ActionDialog>
      )}
      {link.shown !== undefined && (
        <OnceDialog
          title="The invitation"
          text="The first person who opens this link joins with the role. It expires in seven days and is shown only once."
          values={[['link', link.shown]]}
          onClose={link.hide}
        />
      )}
      {changing.shown !== undefined && (
        <ChangeRole member={changing.shown} onDone={members.refresh} onClose={changing.hide} />
      )}
      {leaving.shown !== undefined && (
        <RemoveMember member={leaving.shown} onDone={members.refresh} onClose={leaving.hide} />
      )}
    </>
  )
}

type MemberDialogProps = { readonly member: Member; onDone(): void; onClose(): void }

function ChangeRole({ member, onDone, onClose }: MemberDialogProps) {
  const path = `/members/${member.userId}`
  return (
    <ActionDialog
      title={`Role of ${member.email}`}
      act="Save"
      codes={[['curl', curl(path, 'PATCH', { role: 'viewer' })]]}
      run={async (form) => {
        await call('PATCH', path, { body: { role: form.get('role') } })
        toast('Saved; it counts at once')
        onDone()
      }}
      onClose={onClose}
    >
      <RoleField value={member.role} />
    </ActionDialog>
  )
}

function RemoveMember({ member, onDone, onClose }: MemberDialogProps) {
  const path = `/members/${member.userId}`
  return (
    <ActionDialog
      title={`Remove ${member.email}`}
      act="Remove"
      look="danger"
      codes={[['curl', curl(path, 'DELETE')]]}
      run={async () => {
        await call('DELETE', path)
        toast(`${member.email} is no member any more`)
        onDone()
      }}
      onClose={onClose}
    >
      <p class="warn">
        The user keeps signing in, and sees nothing of this account. Open invitations that the user
        made are withdrawn.
      </p>
    </ActionDialog>
  )
}

function Invitations({ query }: { readonly query: ReturnType<typeof useQuery<Page<Invitation>>> }) {
  const withdraw = async (id: string): Promise<void> => {
    await call('DELETE', `/invitations/${id}`)
    toast('Withdrawn')
    query.refresh()
  }
  return (
    <Section
      title="Open invitations"
      query={query}
      path="/invitations"
      columns={[
        { name: 'Who', cell: ({ email }) => email },
        { name: 'Role', cell: ({ role }) => <span class="tag">{role}</span> },
        {
          name: 'Ends',
          shown: 'wide',
          cell: ({ expiresAt }) => momentOf(expiresAt),
        },
        {
          name: 'Actions',
          isNumber: true,
          cell: ({ id }) => (
            <ActButton needs="admin" onClick={() => withdraw(id)}>
              Withdraw
            </ActButton>
          ),
        },
      ]}
      keyOf={({ id }) => id}
      empty="No invitation is open"
    />
  )
}
