/*
 * Closed lists and bounds that the database, the interfaces and browsers share.
 */

/** The part that a user or token has in an account: each may do what those before it may. */
export type Role = 'viewer' | 'developer' | 'admin'

/** wei, millionths of a USD, or operations. */
export const budgetUnits = ['wei', 'usd', 'count'] as const

export type BudgetUnit = (typeof budgetUnits)[number]

/** The types of events to which apps may subscribe. */
export const eventTypes = [
  'sponsorship.signed',
  'sponsorship.settled',
  'sponsorship.expired',
  'user_operation.included',
  'user_operation.failed',
  'user_operation.dropped',
  'tank.low',
  'webhook.circuit_opened',
] as const

export type EventType = (typeof eventTypes)[number]

/** How much the log holds: a line is written when its level stands here after the chosen one, or is it. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof logLevels)[number]

/** The place from which the value of a setting comes. */
export const settingSources = ['flag', 'environment', 'file', 'default'] as const

export type SettingSource = (typeof settingSources)[number]

/** Operations on which a draft of a policy is tried at most. */
export const MOST_TRIED = 500

/** Each role may do what those before it may: read; test and integrate; decide about money and people. */
export const roles: readonly [Role, ...Role[]] = ['viewer', 'developer', 'admin']

/** Whether who has the role may do what needs the other one. */
export function mayAct(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** The schemas of ERC-8021 by their id: codes of the chain's registry, of a registry that is named, and a CBOR map. */
export const attributionSchemas = ['canonical', 'custom', 'cbor'] as const
