import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import type { InstanceSettings } from '../../api/shapes.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Field } from '../../parts/Field.js'
import { Options } from '../../parts/Options.js'
import { toast } from '../../parts/toasts.js'
import { useOpen } from '../../parts/useOpen.js'

type Levels = InstanceSettings['logLevel']

const levels: readonly (readonly [level: Levels['now'], text: string])[] = [
  ['trace', 'trace: each step, for days of searching'],
  ['debug', 'debug: each operation on its way'],
  ['info', 'info: what happens to the service'],
  ['warn', 'warn: what may need attention'],
  ['error', 'error: what went wrong only'],
  ['silent', 'silent: nothing at all'],
]

type LogLevelProps = { readonly level: Levels; onChanged(): void }

/** Changes the level of the log until the next start. */
export function LogLevel({ level: { now, configured }, onChanged }: LogLevelProps) {
  const changing = useOpen()
  return (
    <>
      <button type="button" onClick={changing.open}>
        Change log level
      </button>
      {changing.isOpen && (
        <ActionDialog
          title="Log level"
          act="Change it"
          codes={[['curl', curl('/settings/log-level', 'PATCH', { level: 'debug' })]]}
          run={async (form) => {
            const body = { level: form.get('level') }
            const answer = await call<Levels>('PATCH', '/settings/log-level', { body })
            toast(`The log is at ${answer.now}`)
            onChanged()
          }}
          onClose={changing.close}
        >
          <Field label="Level">
            <select name="level">
              <Options of={levels} first={now} />
            </select>
          </Field>
          <p class="muted">
            It takes effect at once, in all processes of this machine that share the listener. A
            replica elsewhere keeps its own, and a process that starts later begins with{' '}
            <code>{configured}</code>. <code>purser audit list</code> keeps the change.
          </p>
        </ActionDialog>
      )}
    </>
  )
}
