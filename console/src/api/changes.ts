import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { listen } from './stream.js'

/** Milliseconds between looks where no stream reports changes. */
const PACE = 2_000
/** Streams at the same time: a browser has six connections to a host, and requests need some. */
const MOST_STREAMS = 3

/** How changes are learned of at the moment, for people. */
export const isStreaming = signal(false)

/**
 * Calls `look` while the page is visible and `isLive`: when a stream reports that an operation of the apps changed, else
 * every two seconds; and at once when the page becomes visible. The one place that decides how the console learns of
 * changes.
 * @param apps - whose operations `look` asks about; empty = something that no stream reports
 */
export function useChanges(look: () => void, isLive: boolean, apps: readonly string[] = []): void {
  const newest = useRef(look)
  newest.current = look
  const key = apps.length > MOST_STREAMS ? '' : apps.join(' ')
  useEffect(() => {
    if (!isLive) return
    let heard: readonly ReturnType<typeof listen>[] = []
    const isTold = () => heard.length > 0 && heard.every(({ stream }) => stream.isOpen.peek())
    const hear = () => {
      const visible = document.visibilityState === 'visible'
      for (const { leave } of heard) leave()
      const ids = visible && key !== '' ? key.split(' ') : []
      heard = ids.map((appId) => listen(appId, () => newest.current()))
      if (visible) newest.current()
    }
    const timer = setInterval(() => {
      if (key !== '') isStreaming.value = isTold()
      if (!isTold() && document.visibilityState === 'visible') newest.current()
    }, PACE)
    hear()
    document.addEventListener('visibilitychange', hear)
    return () => {
      clearInterval(timer)
      for (const { leave } of heard) leave()
      document.removeEventListener('visibilitychange', hear)
    }
  }, [isLive, key])
}
