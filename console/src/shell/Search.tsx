import { call } from '../api/call.js'
import { Icon } from '../parts/Icon.js'
import { toast } from '../parts/toasts.js'
import { go, hrefOf } from '../router.js'

const FIELD = 'search'

type Hit = { readonly kind: string; readonly id: string; readonly chainId: number | null }

export function focusSearch(): void {
  document.getElementById(FIELD)?.focus()
}

/** Where a hit is shown; undefined = this console has no screen for it. */
function hrefOfHit({ kind, id, chainId }: Hit): string | undefined {
  if (kind === 'operation') return hrefOf(`operations/${chainId}/${id}`)
  if (kind === 'refusal') return hrefOf(`refusals/${id}`)
  if (kind === 'decision') return hrefOf(`decisions/${id}`)
  if (kind === 'sender') return hrefOf('operations', { sender: id })
  if (kind === 'app') return hrefOf('operations', { appId: id })
  return undefined
}

async function find(text: string): Promise<void> {
  if (/^[A-Z][A-Z0-9_-]{1,59}$/i.test(text)) {
    go(hrefOf('operations', { code: text.toUpperCase() }))
    return
  }
  try {
    const { items } = await call<{ items: readonly Hit[] }>('GET', '/search', {
      query: { q: text },
    })
    const href = items.map(hrefOfHit).find((each) => each !== undefined)
    if (href === undefined) toast('Nothing of yours has that name')
    else go(href)
  } catch (error) {
    toast((error as Error).message)
  }
}

/** Finds what a hash, an address, an id or a code names. */
export function Search() {
  return (
    <search class="search">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const field = event.currentTarget.elements.namedItem('q') as HTMLInputElement
          const text = field.value.trim()
          if (text === '') return
          field.blur()
          void find(text)
        }}
      >
        <Icon name="search" />
        <input
          id={FIELD}
          name="q"
          type="search"
          autocomplete="off"
          spellcheck={false}
          placeholder="Hash, address, id or code"
          aria-label="Search by hash, address, id or code"
        />
        <kbd>/</kbd>
      </form>
    </search>
  )
}
