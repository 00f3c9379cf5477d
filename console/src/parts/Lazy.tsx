import { type Signal, signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { Empty } from './Empty.js'
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
  const hasFailed = signal(false)
  let isAsked = false
  const load = (): void => {
    if (isAsked) return
    isAsked = true
    hasFailed.value = false
    read()
      .then((screen) => {
        loaded.value = screen
      })
      .catch(() => {
        hasFailed.value = true
      })
  }
  const again = (): void => {
    isAsked = false
    load()
  }
  return {
    load,
    Content() {
      load()
      const Screen = loaded.value
      if (Screen !== undefined) return <Screen />
      return hasFailed.value ? <NotLoaded onRetry={again} /> : <Skeleton lines={6} />
    },
  }
}

/** Browsers remember that a file was not there, so trying again may take a page that is loaded anew. */
function NotLoaded({ onRetry }: { onRetry(): void }) {
  return (
    <Empty title="This screen could not be loaded">
      <p>The service does not answer, or it was upgraded since this page was opened.</p>
      <p class="row centred">
        <button type="button" onClick={onRetry}>
          Try again
        </button>
        <button type="button" class="primary" onClick={() => location.reload()}>
          Reload the page
        </button>
      </p>
    </Empty>
  )
}
