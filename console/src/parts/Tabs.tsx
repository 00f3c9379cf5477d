import { useEffect, useRef } from 'preact/hooks'
import { useKeys } from '../keys.js'
import { go } from '../router.js'

type TabsProps = {
  readonly label: string
  readonly tabs: readonly {
    readonly name: string
    readonly href: string
    readonly isHere: boolean
    /** How many the view holds, where that is known. */
    readonly count?: string | undefined
  }[]
}

/** Links to the views of a screen, which the digits choose too; the chosen one is always in sight. */
export function Tabs({ label, tabs }: TabsProps) {
  const element = useRef<HTMLElement>(null)
  const here = tabs.findIndex(({ isHere }) => isHere)
  useKeys(
    label,
    Object.fromEntries(
      tabs.map(({ name, href }, at) => [String(at + 1), [name, () => go(href)] as const]),
    ),
  )
  useEffect(() => {
    const { current } = element
    if (current === null) return
    // At once too, and whenever the window gets narrower.
    const observer = new ResizeObserver(() => {
      const chosen = current.querySelector('[aria-current]')
      chosen?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    })
    observer.observe(current)
    return () => observer.disconnect()
  }, [here])
  return (
    <nav class="tabs" aria-label={label} ref={element}>
      {tabs.map(({ name, href, isHere, count }) => (
        <a key={name} href={href} aria-current={isHere ? 'page' : undefined}>
          {name}
          {count !== undefined && (
            <>
              {' '}
              <span class="count">{count}</span>
            </>
          )}
        </a>
      ))}
    </nav>
  )
}
