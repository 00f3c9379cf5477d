import type { ReadyFacts } from '../readyFacts.js'

/** A message of a process to its parent. */
export type MemberMessage =
  /** The process serves. */
  | { readonly kind: 'ready'; readonly facts: ReadyFacts }
  /** It asks for the metrics of the others. */
  | { readonly kind: 'gather'; readonly id: number }
  /** Its metrics, which were asked for. */
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: readonly object[] }

/** A message of the parent to a process. */
export type ParentMessage =
  | { readonly kind: 'read'; readonly id: number }
  | { readonly kind: 'gathered'; readonly id: number; readonly metrics: readonly object[] }
