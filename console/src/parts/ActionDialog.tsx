import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Code } from './Code.js'
import { Dialog } from './Dialog.js'

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
  const isBusy = useSignal(false)
  const trouble = useSignal<string | undefined>(undefined)
  const submit = async (form: HTMLFormElement): Promise<void> => {
    isBusy.value = true
    trouble.value = undefined
    try {
      await props.run(new FormData(form))
      props.onClose()
    } catch (error) {
      trouble.value = (error as Error).message
      isBusy.value = false
    }
  }
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy.value) void submit(event.currentTarget)
        }}
      >
        {props.children}
        {trouble.value !== undefined && (
          <p class="trouble" role="alert">
            {trouble.value}
          </p>
        )}
        <div class="row form-end">
          <details class="grow">
            <summary>As code</summary>
            {props.codes.map(([name, text]) => (
              <Code key={name} what={`the ${name}`} text={text} />
            ))}
          </details>
          <button type="submit" class={look} disabled={isBusy.value}>
            {isBusy.value ? 'One moment…' : props.act}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
