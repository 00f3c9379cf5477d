import type { ComponentChildren } from 'preact'
import { mayAct, type Role } from '../api/role.js'

type ActButtonProps = {
  /** The role that the act needs in the account. */
  readonly needs: Role
  readonly look?: 'primary' | 'plain' | 'danger'
  readonly children: ComponentChildren
  onClick(): void
}

/** A button of an action that needs a role: users without it see the button and which role is missing. */
export function ActButton({ needs, look, children, onClick }: ActButtonProps) {
  const isAllowed = mayAct(needs)
  return (
    <button
      type="button"
      class={look}
      disabled={!isAllowed}
      title={isAllowed ? undefined : `This needs the role ${needs} in the account`}
      onClick={onClick}
    >
      {children}
    </button>
  )
}
