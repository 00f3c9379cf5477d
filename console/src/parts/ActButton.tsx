import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { mayAct, type Role } from '../api/role.js'
import { toast } from './toasts.js'

type ActButtonProps = {
  /** The role that the act needs in the account. */
  readonly needs: Role
  readonly look?: 'primary' | 'plain' | 'danger'
  readonly children: ComponentChildren
  /** The act; while a promise of it is open, the button cannot be clicked again. A failure is shown as a toast. */
  onClick(): void | Promise<void>
}

/** A button of an action that needs a role: users without it see the button and which role is missing. */
export function ActButton({ needs, look, children, onClick }: ActButtonProps) {
  const isAllowed = mayAct(needs)
  const isBusy = useSignal(false)
  const act = () => {
    const done = onClick()
    if (done === undefined) return
    isBusy.value = true
    void done
      .catch((error: Error) => toast(error.message))
      .finally(() => {
        isBusy.value = false
      })
  }
  return (
    <button
      type="button"
      class={look}
      disabled={!isAllowed || isBusy.value}
      title={isAllowed ? undefined : `This needs the role ${needs} in the account`}
      onClick={act}
    >
      {children}
    </button>
  )
}
