import type { ComponentChildren } from 'preact'
import { Code } from './Code.js'
import { Dialog } from './Dialog.js'
import { Mistake } from './Mistake.js'
import { useAct } from './useAct.js'

type ActionDialogProps = {
  readonly title: string
  /** The word on the button that does it. */
  readonly act: string
  readonly look?: 'primary' | 'danger'
  readonly children?: ComponentChildren
  /** The same done another way. */
  readonly codes: readonly (readonly [name: string, text: string])[]
  /** Does it with the values of the form; what it throws is shown, and the dialog stays. */
  run(form: FormData): Promise<void>
  onClose(): void
}

/** A dialog that asks for what an act needs, or says what it will do, and then does it. */
export function ActionDialog({ look = 'primary', ...props }: ActionDialogProps) {
  const { isBusy, trouble, run } = useAct()
  const submit = async (form: HTMLFormElement): Promise<void> => {
    await props.run(new FormData(form))
    props.onClose()
  }
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          const form = event.currentTarget
          void run(() => submit(form))
        }}
      >
        {props.children}
        <Mistake text={trouble} />
        <div class="row form-end">
          <details class="grow">
            <summary>As code</summary>
            {props.codes.map(([name, text]) => (
              <Code key={name} what={`the ${name}`} text={text} />
            ))}
          </details>
          <button type="submit" class={look} disabled={isBusy}>
            {isBusy ? 'One moment…' : props.act}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
