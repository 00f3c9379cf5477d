import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const FIELDS = 'input:not([type=checkbox]), select, textarea'

/**
 * Opens a dialog above the page while the component is shown. The browser keeps the focus inside; it begins in the
 * first field, not at the button that closes it, and goes back to what opened the dialog.
 */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const { activeElement: opener } = document
    element.current?.showModal()
    element.current?.querySelector<HTMLElement>(FIELDS)?.focus()
    return () => {
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return element
}
