import type { Operation } from '../api/shapes.js'
import { Icon, type IconName } from './Icon.js'

const names = {
  pooled: 'Pooled',
  bundled: 'Bundled',
  included: 'Included',
  failed: 'Failed',
  dropped: 'Dropped',
  replaced: 'Replaced',
  refused: 'Refused',
} as const

export type StateName = keyof typeof names

const icons: Readonly<Record<StateName, IconName>> = {
  pooled: 'pooled',
  bundled: 'bundled',
  included: 'included',
  failed: 'failed',
  dropped: 'dropped',
  replaced: 'replaced',
  refused: 'failed',
}

/** The state of an operation as people see it: one that was included and reverted has failed. */
export function stateOf({ state, success }: Pick<Operation, 'state' | 'success'>): StateName {
  return state === 'included' && success === false ? 'failed' : state
}

/** A state: colour, drawing and word. */
export function State({ name }: { readonly name: StateName }) {
  return (
    <span class={`state state-${name}`}>
      <Icon name={icons[name]} />
      {names[name]}
    </span>
  )
}
