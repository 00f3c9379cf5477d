import type { Key } from '../../api/shapes.js'
import { now } from '../../parts/clock.js'
import { countdownOf, keyStateOf } from './keyState.js'

/** The state of a key as a word; an end is counted down. */
export function KeyTag({ of, among }: { readonly of: Key; readonly among: readonly Key[] }) {
  const state = keyStateOf(of, among, now.value)
  if (state.kind === 'live') return <span class="tag good">live</span>
  if (state.kind === 'ended') return <span class="tag">ended</span>
  return (
    <span class="tag doubt" role="timer">
      {state.isRotated ? 'replaced, ends' : 'ends'} in {countdownOf(state.left)}
    </span>
  )
}
