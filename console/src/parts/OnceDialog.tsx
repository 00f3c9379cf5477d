import { Copyable } from './Copyable.js'
import { useModal } from './useModal.js'

type OnceDialogProps = {
  readonly title: string
  readonly text: string
  readonly values: readonly (readonly [name: string, value: string])[]
  onClose(): void
}

/** A secret that is shown this once: only its acknowledgement closes the dialog. */
export function OnceDialog({ title, text, values, onClose }: OnceDialogProps) {
  const element = useModal()
  return (
    <dialog
      ref={element}
      aria-label={title}
      onClose={onClose}
      onCancel={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.preventDefault()
      }}
    >
      <header>
        <h2>{title}</h2>
      </header>
      <div class="form">
        <p>{text}</p>
        <dl class="endpoints">
          {values.map(([name, value]) => (
            <Copyable key={name} name={name} value={value} />
          ))}
        </dl>
        <form method="dialog" class="row form-end">
          <span class="grow" />
          <button type="submit" class="primary">
            I saved it
          </button>
        </form>
      </div>
    </dialog>
  )
}
