import { useLayoutEffect, useRef } from 'preact/hooks'

/** Keys, one or two after each other (`g o`), each with what it does in words. */
export type KeyMap = Readonly<Record<string, readonly [what: string, act: () => void]>>

/** What works at the moment, as the sheet of keys lists it: keys that do the same stand together. */
export type KeyGroup = {
  readonly where: string
  readonly keys: readonly { readonly what: string; readonly names: readonly string[] }[]
}

type Layer = { readonly where: string; readonly keys: KeyMap }

/** Milliseconds within which the second key of two must come. */
const SEQUENCE = 1_200

const layers: { readonly current: Layer }[] = []
let first = ''
let firstAt = 0

/** What was shown last comes first, and hides the same key of what lies below. */
function fromTheTop(): readonly Layer[] {
  return [...layers].reverse().map(({ current }) => current)
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
  if (isTyping(event.target)) {
    if (event.key === 'Escape') (event.target as HTMLElement).blur()
    return
  }
  // An open dialog has the keyboard.
  if (document.querySelector('dialog[open]') !== null) return
  const { key } = event
  // A key that only changes another one is none: `$` is Shift and 4.
  if (/^(?:Shift|CapsLock|AltGraph)$/.test(key)) return
  // Enter on a link or a button is theirs.
  if (key === 'Enter' && (event.target as Element).closest?.('a, button, summary') !== null) return
  const names = Date.now() - firstAt < SEQUENCE ? [`${first} ${key}`, key] : [key]
  first = key
  firstAt = Date.now()
  for (const name of names)
    for (const { keys } of fromTheTop()) {
      const act = keys[name]?.[1]
      if (act === undefined) continue
      event.preventDefault()
      firstAt = 0
      act()
      return
    }
}

export function startKeys(): void {
  document.addEventListener('keydown', onKey)
}

/** Every key that acts at the moment, what was shown last first. */
export function activeKeys(): readonly KeyGroup[] {
  const taken = new Set<string>()
  const groups = new Map<string, Map<string, string[]>>()
  for (const { where, keys } of fromTheTop()) {
    const group = new Map<string, string[]>()
    for (const [name, [what]] of Object.entries(keys)) {
      if (taken.has(name)) continue
      taken.add(name)
      group.set(what, [...(group.get(what) ?? []), name])
    }
    // Of one heading, what lies below stands first: a list's own keys come after those of every list.
    groups.set(where, new Map([...group, ...(groups.get(where) ?? [])]))
  }
  return [...groups]
    .filter(([, keys]) => keys.size > 0)
    .map(([where, keys]) => ({ where, keys: [...keys].map(([what, names]) => ({ what, names })) }))
}

/**
 * Lets keys act while the component is shown; none acts while the user types.
 * @param where - the heading under which the sheet of keys lists them
 */
export function useKeys(where: string, keys: KeyMap): void {
  const newest = useRef({ where, keys })
  newest.current = { where, keys }
  // Not after the paint: on a busy machine a closed panel would keep its keys, and an open one lack them, for a while.
  useLayoutEffect(() => {
    layers.push(newest)
    return () => {
      layers.splice(layers.indexOf(newest), 1)
    }
  }, [])
}
