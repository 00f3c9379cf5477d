import { type Signal, signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { Skeleton } from './Skeleton.js'

/** A screen whose code is loaded when it is shown first. */
export function lazy(load: () => Promise<ComponentType>): ComponentType {
  const loaded: Signal<ComponentType | undefined> = signal(undefined)
  let isAsked = false
  return function Lazy() {
    if (!isAsked) {
      isAsked = true
      load()
        .then((screen) => {
          loaded.value = screen
        })
        .catch(() => {
          isAsked = false
        })
    }
    const Screen = loaded.value
    return Screen === undefined ? <Skeleton lines={6} /> : <Screen />
  }
}
