import type { ComponentChildren } from 'preact'
import { Icon } from './Icon.js'
import { useModal } from './useModal.js'

type DialogProps = {
  readonly title: string
  readonly children: ComponentChildren
  onClose(): void
}

/** A dialog above the page: the browser keeps the focus inside, and Esc closes it. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const element = useModal()
  return (
    <dialog
      ref={element}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) element.current?.close()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.stopPropagation()
      }}
    >
      <header>
        <h2>{title}</h2>
        <form method="dialog">
          <button type="submit" class="plain" aria-label="Close">
            <Icon name="close" />
          </button>
        </form>
      </header>
      {children}
    </dialog>
  )
}
