import type { Role } from '../../api/role.js'
import { Field } from '../../parts/Field.js'
import { Options } from '../../parts/Options.js'

const roles: readonly (readonly [role: Role, text: string])[] = [
  ['viewer', 'viewer: sees, changes nothing'],
  ['developer', 'developer: keys, webhooks, trials'],
  ['admin', 'admin: policies, money, people'],
]

/** The choice of a role. */
export function RoleField({ value }: { readonly value: Role }) {
  return (
    <Field label="Role">
      <select name="role">
        <Options of={roles} first={value} />
      </select>
    </Field>
  )
}
