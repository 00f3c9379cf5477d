import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
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
  // Who selects text in a field may let go beyond the dialog: that is a click too.
  const isPressedOutside = useRef(false)
  return (
    <dialog
      ref={element}
      aria-label={title}
      onClose={onClose}
      onPointerDown={(event) => {
        isPressedOutside.current = event.target === element.current
      }}
      onClick={(event) => {
        if (isPressedOutside.current && event.target === element.current) element.current?.close()
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
