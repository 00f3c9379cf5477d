import type { Role } from '../../api/role.js'
import { Field } from '../../parts/Field.js'

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
        {roles.map(([role, text]) => (
          <option key={role} value={role} selected={role === value}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  )
}
