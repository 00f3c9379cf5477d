import { signal } from '@preact/signals'
import { consolePath } from './api/site.js'

/** Where the user is: the path below the console, without slashes around it, and the search. */
export type Place = { readonly path: string; readonly search: URLSearchParams }

function read(): Place {
  const { pathname, search } = location
  const below = pathname.startsWith(consolePath) ? pathname.slice(consolePath.length) : ''
  return { path: below.replace(/\/+$/, ''), search: new URLSearchParams(search) }
}

export const place = signal(read())

/** The address of a path below the console. Search values that are absent or empty are left out. */
export function hrefOf(
  path: string,
  search: Readonly<Record<string, string | undefined>> = {},
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) if (value) query.set(name, value)
  return `${consolePath}${path}${query.size === 0 ? '' : `?${query}`}`
}

/** Goes to an address of the console. */
export function go(href: string, how: 'push' | 'replace' = 'push'): void {
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', href)
  place.value = read()
}

/** The present search with these values changed; undefined takes one out. */
export function searchWith(
  changes: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return { ...Object.fromEntries(place.value.search), ...changes }
}

/** Follows links inside the console without loading the page anew. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    place.value = read()
  })
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element).closest('a')
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    if (link.origin !== location.origin || !link.pathname.startsWith(consolePath)) return
    event.preventDefault()
    go(link.href)
  })
}
