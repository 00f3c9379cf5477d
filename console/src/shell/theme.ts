import { signal } from '@preact/signals'

const STORED = 'purser.theme'

export type Theme = 'system' | 'light' | 'dark'

function read(): Theme {
  const text = localStorage.getItem(STORED)
  return text === 'light' || text === 'dark' ? text : 'system'
}

export const theme = signal<Theme>(read())

function apply(): void {
  if (theme.value === 'system') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', theme.value)
}

export function startTheme(): void {
  apply()
}

/** System, light, dark, and round again. */
export function nextTheme(): void {
  const order: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }
  theme.value = order[theme.value]
  if (theme.value === 'system') localStorage.removeItem(STORED)
  else localStorage.setItem(STORED, theme.value)
  apply()
}
