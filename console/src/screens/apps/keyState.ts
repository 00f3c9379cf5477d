import type { Key } from '../../api/shapes.js'

/** What a key is at a time. `ending`: it has an end, and the milliseconds to it. */
export type KeyState =
  | { readonly kind: 'live' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'ending'; readonly left: number; readonly isRotated: boolean }

/** @param keys - all keys of the app: whether another one took the place of this one @param now - Unix milliseconds */
export function keyStateOf(
  { id, revokedAt, expiresAt }: Pick<Key, 'id' | 'revokedAt' | 'expiresAt'>,
  keys: readonly Pick<Key, 'rotatedFrom'>[],
  now: number,
): KeyState {
  if (revokedAt !== null) return { kind: 'ended' }
  if (expiresAt === null) return { kind: 'live' }
  const left = Date.parse(expiresAt) - now
  if (left <= 0) return { kind: 'ended' }
  return { kind: 'ending', left, isRotated: keys.some(({ rotatedFrom }) => rotatedFrom === id) }
}

/** A time that is counted down: `2 d 3 h`, `23 h 59 min`, `4 min 09 s`. */
export function countdownOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000))
  const two = (value: number) => String(value).padStart(2, '0')
  if (seconds >= 86_400)
    return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`
  if (seconds >= 3_600)
    return `${Math.floor(seconds / 3_600)} h ${two(Math.floor((seconds % 3_600) / 60))} min`
  return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`
}
