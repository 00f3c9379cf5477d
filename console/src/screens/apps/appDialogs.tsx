import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import type { App } from '../../api/shapes.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Field } from '../../parts/Field.js'
import { toast } from '../../parts/toasts.js'
import { go, hrefOf } from '../../router.js'

type EditAppProps = { readonly app: App; onDone(): void; onClose(): void }

/** Renames an app, and says whom wallets show as the one who pays. */
export function EditApp({ app, onDone, onClose }: EditAppProps) {
  return (
    <ActionDialog
      title={`Edit ${app.name}`}
      act="Save"
      codes={[
        ['curl', curl(`/apps/${app.id}`, 'PATCH', { name: 'NAME', sponsor: { name: 'SHOWN' } })],
        ['command', `purser app sponsor ${app.id} --name SHOWN`],
      ]}
      run={async (form) => {
        const shown = String(form.get('sponsor')).trim()
        const { icon } = app.sponsor ?? {}
        const sponsor = shown === '' ? null : { name: shown, ...(icon !== undefined && { icon }) }
        await call('PATCH', `/apps/${app.id}`, { body: { name: form.get('name'), sponsor } })
        toast('Saved')
        onDone()
      }}
      onClose={onClose}
    >
      <Field label="Name">
        <input name="name" required maxLength={100} autocomplete="off" defaultValue={app.name} />
      </Field>
      <Field
        label="Sponsor shown by wallets"
        hint="Wallets show it with a sponsored operation (ERC-7677). Empty: no name."
      >
        <input
          name="sponsor"
          maxLength={100}
          autocomplete="off"
          defaultValue={app.sponsor?.name ?? ''}
        />
      </Field>
    </ActionDialog>
  )
}

/** Ends an app for good, once its name was typed. */
export function EndApp({ app, onClose }: { readonly app: App; onClose(): void }) {
  return (
    <ActionDialog
      title={`End ${app.name}`}
      act="End it for good"
      look="danger"
      codes={[
        ['curl', curl(`/apps/${app.id}`, 'DELETE')],
        ['command', `purser app revoke ${app.id}`],
      ]}
      run={async (form) => {
        if (form.get('name') !== app.name)
          throw new Error(`The name of the app is ${app.name}: type it to end the app.`)
        await call('DELETE', `/apps/${app.id}`)
        toast(`${app.name} has ended`)
        go(hrefOf('apps'))
      }}
      onClose={onClose}
    >
      <p class="warn">
        All its keys end within 2 seconds: nothing more is sponsored, estimated or sent with them.
        Operations that were accepted are still bundled, and its records stay. This cannot be
        undone.
      </p>
      <Field label={`Type ${app.name} to confirm`}>
        <input name="name" required autocomplete="off" />
      </Field>
    </ActionDialog>
  )
}
