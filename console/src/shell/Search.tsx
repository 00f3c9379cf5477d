import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { call } from '../api/call.js'
import { appName } from '../api/names.js'
import type { Hit, Page } from '../api/shapes.js'
import { shortOf } from '../parts/format.js'
import { Icon } from '../parts/Icon.js'
import { toast } from '../parts/toasts.js'
import { go, hrefOf } from '../router.js'

const FIELD = 'search'
const LIST = 'search-hits'

export function focusSearch(): void {
  document.getElementById(FIELD)?.focus()
}

/** Where a hit is shown; undefined = this console has no screen for it. */
function hrefOfHit({ kind, id, appId, chainId }: Hit): string | undefined {
  switch (kind) {
    case 'operation':
      return hrefOf(`operations/${chainId}/${id}`)
    case 'refusal':
      return hrefOf(`refusals/${id}`)
    case 'decision':
      return hrefOf(`decisions/${id}`)
    case 'sender':
      return hrefOf('operations', { sender: id })
    case 'app':
      return hrefOf(`apps/${id}`)
    case 'key':
      return hrefOf(`apps/${appId}/keys/${id}`)
    case 'policy':
      return hrefOf(`policies/${id}`)
    case 'tank':
      return hrefOf(`tanks/${appId}/${id}`)
    case 'webhook':
      return hrefOf(`webhooks/${appId}/${id}`)
    case 'account':
      return hrefOf('settings', { view: 'accounts' })
    case 'user':
      return hrefOf('settings', { view: 'users' })
    default:
      return undefined
  }
}

/** What operations failed or were refused with: `AA25`, `BUDGET_EXCEEDED`. */
function isCode(text: string): boolean {
  return /^([A-Z]{2,4}-?\d{2,4}|[A-Z]{2,}_[A-Z0-9_]+)$/i.test(text)
}

/** A line below the field: where it leads, and what is found there. */
type Suggestion = {
  readonly href: string
  readonly kind: string
  readonly name: string
  /** The app that it belongs to. */
  readonly appId: string | null
}

/** The hits of a text that the console can show; for a code the operations and the refusals with it. */
async function find(text: string): Promise<readonly Suggestion[]> {
  const { items } = await call<Page<Hit>>('GET', '/search', { query: { q: text } })
  const found = items.flatMap((hit): Suggestion[] => {
    const href = hrefOfHit(hit)
    if (href === undefined) return []
    const { kind, name, id, appId } = hit
    return [{ href, kind, name: name ?? shortOf(id), appId: kind === 'app' ? null : appId }]
  })
  if (!isCode(text)) return found
  const code = text.toUpperCase()
  const withCode = (kind: string, query: Record<string, string>): Suggestion => ({
    href: hrefOf('operations', query),
    kind,
    name: code,
    appId: null,
  })
  return [
    withCode('refused with', { view: 'refused', rule: code }),
    withCode('operations with', { code }),
    withCode('not sponsored for', { view: 'not-sponsored', code }),
    ...found,
  ]
}

/** Milliseconds without a key after which suggestions are asked for. */
const PAUSE = 150

/** Finds what a text means, with suggestions while it is typed: arrows choose one, Enter opens it. */
export function Search() {
  const hits = useSignal<readonly Suggestion[]>([])
  const chosen = useSignal(0)
  const asked = useRef('')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const close = () => {
    clearTimeout(timer.current)
    asked.current = ''
    hits.value = []
    chosen.value = 0
  }
  const open = (href: string) => {
    close()
    document.getElementById(FIELD)?.blur()
    go(href)
  }
  const ask = async (text: string) => {
    asked.current = text
    const found = await find(text)
    // A newer text may have been asked for meanwhile.
    if (asked.current !== text) return undefined
    hits.value = found
    chosen.value = 0
    return found
  }
  return (
    <search class="search">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const field = event.currentTarget.elements.namedItem('q') as HTMLInputElement
          const text = field.value.trim()
          if (text.length < 2) return
          const hit = text === asked.current ? hits.value[chosen.value] : undefined
          if (hit !== undefined) return open(hit.href)
          clearTimeout(timer.current)
          ask(text)
            .then((found) => {
              const first = found?.[0]
              if (first !== undefined) open(first.href)
              else if (found !== undefined) toast('Nothing of yours has that name')
            })
            .catch((error: Error) => toast(error.message))
        }}
      >
        <Icon name="search" />
        <input
          id={FIELD}
          name="q"
          type="search"
          // biome-ignore lint/a11y/noRedundantRoles: without a list of the browser's the element does not have this role
          role="combobox"
          list={undefined}
          autocomplete="off"
          spellcheck={false}
          placeholder="Hash, address, name or code"
          aria-label="Search everything"
          aria-expanded={hits.value.length > 0}
          aria-controls={LIST}
          aria-activedescendant={hits.value.length > 0 ? `${LIST}-${chosen.value}` : undefined}
          onInput={(event) => {
            const text = event.currentTarget.value.trim()
            clearTimeout(timer.current)
            if (text.length < 2) return close()
            // Without an answer there are no suggestions; Enter says why.
            timer.current = setTimeout(() => ask(text).catch(() => close()), PAUSE)
          }}
          onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
            if (event.key === 'Escape') close()
            if (step === undefined || hits.value.length === 0) return
            event.preventDefault()
            chosen.value = (chosen.value + step + hits.value.length) % hits.value.length
          }}
          onBlur={close}
        />
        <kbd>/</kbd>
      </form>
      <div
        id={LIST}
        class="hits"
        role="listbox"
        aria-label="Suggestions"
        hidden={hits.value.length === 0}
      >
        {hits.value.map(({ href, kind, name, appId }, at) => (
          <div
            key={`${kind} ${name} ${href}`}
            id={`${LIST}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen.value}
            // Before the field loses the focus, which closes the list.
            onPointerDown={(event) => {
              event.preventDefault()
              open(href)
            }}
          >
            <span class="muted">{kind}</span> <strong>{name}</strong>
            {appId !== null && <span class="muted"> of {appName(appId)}</span>}
          </div>
        ))}
      </div>
    </search>
  )
}
