import { type Signal, signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { Skeleton } from './Skeleton.js'

/** A screen whose code comes later. */
export type LazyScreen = {
  readonly Content: ComponentType
  /** Begins to load the code, unless that was done. */
  load(): void
}

/** A screen whose code is loaded when it is shown first, or when somebody asks for it. */
export function lazy(read: () => Promise<ComponentType>): LazyScreen {
  const loaded: Signal<ComponentType | undefined> = signal(undefined)
  let isAsked = false
  const load = (): void => {
    if (isAsked) return
    isAsked = true
    read()
      .then((screen) => {
        loaded.value = screen
      })
      .catch(() => {
        isAsked = false
      })
  }
  return {
    load,
    Content() {
      load()
      const Screen = loaded.value
      return Screen === undefined ? <Skeleton lines={6} /> : <Screen />
    },
  }
}
