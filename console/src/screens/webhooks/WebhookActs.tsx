import type { ComponentChildren } from 'preact'
import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { momentOf } from '../../parts/format.js'
import { useShown } from '../../parts/useOpen.js'
import { go } from '../../router.js'
import type { PanelActs } from './WebhookList.js'

type WebhookActsProps = PanelActs & {
  /** The path of the API of the one that is open. */
  readonly path: string
  /** What turning it off or on is called. */
  readonly turn: string
  readonly active: boolean
  readonly settings: {
    readonly button: string
    readonly title: string
    readonly example: object
    readonly fields: ComponentChildren
    bodyOf(form: FormData): object
  }
  readonly deletion: {
    readonly title: string
    readonly text: ComponentChildren
    /** Where the list is without it. */
    readonly href: string
  }
  /** Acts of this kind alone, which come first. */
  readonly children: ComponentChildren
}

/** What can be done with a webhook or a subscription that is open. */
export function WebhookActs({ path, settings, deletion, ...of }: WebhookActsProps) {
  const dialog = useShown<'settings' | 'secret' | 'delete'>()
  const change = async (body: object): Promise<void> => {
    await call('PATCH', path, { body })
    of.onChanged()
  }
  const opens = [
    ['settings', settings.button],
    ['secret', 'New secret…'],
    ['delete', 'Delete…'],
  ] as const
  return (
    <>
      <div class="actions">
        {of.children}
        <ActButton needs="developer" onClick={() => change({ active: !of.active })}>
          {of.turn}
        </ActButton>
        {opens.map(([name, text]) => (
          <ActButton key={name} needs="developer" onClick={() => dialog.show(name)}>
            {text}
          </ActButton>
        ))}
      </div>
      {dialog.shown === 'settings' && (
        <ActionDialog
          title={settings.title}
          act="Save it"
          codes={[['curl', curl(path, 'PATCH', settings.example)]]}
          run={(form) => change(settings.bodyOf(form))}
          onClose={dialog.hide}
        >
          {settings.fields}
        </ActionDialog>
      )}
      {dialog.shown === 'secret' && <NewSecret path={path} {...of} onClose={dialog.hide} />}
      {dialog.shown === 'delete' && (
        <ActionDialog
          title={deletion.title}
          act="Delete it"
          look="danger"
          codes={[['curl', curl(path, 'DELETE')]]}
          run={async () => {
            await call('DELETE', path)
            of.onChanged()
            go(deletion.href)
          }}
          onClose={dialog.hide}
        >
          <p>{deletion.text}</p>
        </ActionDialog>
      )}
    </>
  )
}

type NewSecretProps = { readonly path: string; onSecret(secret: string): void; onClose(): void }

/** Rotation of a signing secret: both sign for a day. */
function NewSecret({ path, onSecret, onClose }: NewSecretProps) {
  const until = momentOf(Date.now() + 86_400_000)
  return (
    <ActionDialog
      title="A new signing secret"
      act="Create it"
      codes={[['curl', curl(`${path}/secret`, 'POST')]]}
      run={async () => {
        const { signingSecret } = await call<{ signingSecret: string }>('POST', `${path}/secret`)
        onSecret(signingSecret)
      }}
      onClose={onClose}
    >
      <p>
        Each call is signed by both until {until}, so nothing is refused while your server learns
        the new one. After that the old one verifies nothing.
      </p>
    </ActionDialog>
  )
}
