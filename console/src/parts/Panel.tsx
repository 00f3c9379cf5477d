import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useKeys } from '../keys.js'
import { AsCode, type Codes } from './AsCode.js'
import { copy } from './copy.js'
import { Icon } from './Icon.js'
import { useOpen } from './useOpen.js'

type PanelProps = {
  readonly title: ComponentChildren
  readonly name: string
  readonly codes: Codes
  readonly children: ComponentChildren
  onClose(): void
}

/** The panel of the open row of a list. Esc closes it. */
export function Panel({ title, name, codes, children, onClose }: PanelProps) {
  const code = useOpen()
  const heading = useRef<HTMLHeadingElement>(null)
  useKeys('What is open', {
    Escape: ['close it', onClose],
    y: ['copy the link to it', () => void copy(location.href, 'the link')],
  })
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    // Where what is open takes the place of its list, it may stand below what else is on the screen.
    const { bottom } = heading.current?.getBoundingClientRect() ?? { bottom: 0 }
    if (bottom > innerHeight / 2 && matchMedia('(max-width: 1100px)').matches)
      heading.current?.closest('.panel')?.scrollIntoView({ block: 'start' })
  }, [])
  return (
    <>
      <header class="panel-head">
        <h2 tabIndex={-1} ref={heading}>
          {title}
        </h2>
        <button
          type="button"
          class="plain"
          title="Copy the link (y)"
          aria-label="Copy the link"
          onClick={() => void copy(location.href, 'the link')}
        >
          <Icon name="link" />
        </button>
        <button
          type="button"
          class="plain"
          title="As code"
          aria-label="As code"
          onClick={code.open}
        >
          <Icon name="code" />
        </button>
        <button
          type="button"
          class="plain"
          title="Close (Esc)"
          aria-label="Close"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">{children}</div>
      {code.isOpen && <AsCode title={`${name} as code`} codes={codes} onClose={code.close} />}
    </>
  )
}
