import { type Signal, signal } from '@preact/signals'
import { accountId } from './call.js'
import { readEvents } from './serverEvents.js'
import { adminUrl } from './site.js'

/** Milliseconds before a stream that was refused, or broke, is asked for again. */
const REST = 15_000

/** Milliseconds of silence after which a connection is lost: the service says something every 15 seconds. */
const SILENCE = 40_000

/** The stream of one app, shared by all who show it. */
export type Stream = {
  /** Whether changes come by themselves at the moment. */
  readonly isOpen: Signal<boolean>
  readonly listeners: Set<() => void>
  abort: AbortController
  lastId: string | undefined
  retry: number
}

const streams = new Map<string, Stream>()

/**
 * Reads the stream until it ends: when the service drains, after its life, or because nobody shows it. Throws when the
 * connection is lost, which a browser that only listens does not notice.
 */
async function read(appId: string, stream: Stream): Promise<void> {
  const lost = new AbortController()
  const cut = () => lost.abort()
  let silence = setTimeout(cut, SILENCE)
  const heard = () => {
    clearTimeout(silence)
    silence = setTimeout(cut, SILENCE)
  }
  addEventListener('offline', cut)
  try {
    await readWhile(AbortSignal.any([stream.abort.signal, lost.signal]), heard, appId, stream)
  } finally {
    clearTimeout(silence)
    removeEventListener('offline', cut)
  }
}

async function readWhile(
  end: AbortSignal,
  heard: () => void,
  appId: string,
  stream: Stream,
): Promise<void> {
  const account = accountId.peek()
  const response = await fetch(`${adminUrl}/apps/${appId}/stream`, {
    headers: {
      accept: 'text/event-stream',
      ...(account !== undefined && { 'purser-account': account }),
      ...(stream.lastId !== undefined && { 'last-event-id': stream.lastId }),
    },
    cache: 'no-store',
    credentials: 'same-origin',
    signal: end,
  })
  if (!response.ok || response.body === null) throw new Error(`no stream: ${response.status}`)
  stream.isOpen.value = true
  // What changed while there was no stream.
  for (const notify of stream.listeners) notify()
  for await (const { event, id, retry } of readEvents(response.body, heard)) {
    stream.lastId = id ?? stream.lastId
    stream.retry = retry ?? stream.retry
    if (event === 'changes') for (const notify of stream.listeners) notify()
  }
}

async function follow(appId: string, stream: Stream): Promise<void> {
  const { signal: aborted } = stream.abort
  while (!aborted.aborted) {
    const pause = await read(appId, stream).then(
      () => stream.retry,
      () => REST,
    )
    stream.isOpen.value = false
    if (!aborted.aborted) await new Promise((wake) => setTimeout(wake, pause))
  }
}

/** Listens to the changes of an app. The last one who leaves closes its stream. @returns how to leave */
export function listen(
  appId: string,
  notify: () => void,
): { readonly stream: Stream; leave(): void } {
  const key = `${accountId.peek()} ${appId}`
  const known = streams.get(key)
  const stream: Stream = known ?? {
    isOpen: signal(false),
    listeners: new Set(),
    abort: new AbortController(),
    lastId: undefined,
    retry: 1_000,
  }
  stream.listeners.add(notify)
  if (known === undefined) {
    streams.set(key, stream)
    void follow(appId, stream)
  }
  return {
    stream,
    leave() {
      stream.listeners.delete(notify)
      if (stream.listeners.size > 0) return
      streams.delete(key)
      stream.abort.abort()
    },
  }
}
