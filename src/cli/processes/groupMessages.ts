import type { LogLevel } from '../../base/vocabulary.js'
import type { ReadyFacts } from '../readyFacts.js'

/** A message of a process to its parent. */
export type MemberMessage =
  /** The process serves. */
  | { readonly kind: 'ready'; readonly facts: ReadyFacts }
  /** The operator changed the level of the log: it is that of the others too. */
  | { readonly kind: 'level'; readonly level: LogLevel }
  /** It asks for the metrics of the others. */
  | { readonly kind: 'gather'; readonly id: number }
  /** Its metrics, which were asked for. */
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: readonly object[] }

/** A message of the parent to a process. */
export type ParentMessage =
  | { readonly kind: 'read'; readonly id: number }
  | { readonly kind: 'level'; readonly level: LogLevel }
  | { readonly kind: 'gathered'; readonly id: number; readonly metrics: readonly object[] }
