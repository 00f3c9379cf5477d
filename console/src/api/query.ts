import { type Signal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { accountId, callText, pathOf, Trouble } from './call.js'

type Entry = {
  readonly data: Signal<unknown>
  /** The last answer as text: the same one again draws nothing anew. */
  text: string | undefined
  readonly trouble: Signal<Trouble | undefined>
  running: Promise<void> | undefined
  abort: AbortController | undefined
  users: number
  /** Failures in a row, and the time before which none is tried again. */
  failures: number
  pausedUntil: number
}

/** The answer of a GET: the last one stays while the next is asked for, and when that fails. */
export type Query<Answer> = {
  readonly data: Answer | undefined
  readonly trouble: Trouble | undefined
  /** Asks again, unless an answer is under way or the service wants to be left alone. */
  refresh(): void
}

/** Answers that are kept after nobody shows them. */
const KEPT = 60
/** Milliseconds of pause after a failure, doubled each time. */
const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 30_000

const entries = new Map<string, Entry>()

function entryOf(key: string): Entry {
  const known = entries.get(key)
  if (known !== undefined) return known
  for (const [old, entry] of entries)
    if (entries.size >= KEPT && entry.users === 0) entries.delete(old)
  const made: Entry = {
    data: signal(undefined),
    text: undefined,
    trouble: signal(undefined),
    running: undefined,
    abort: undefined,
    users: 0,
    failures: 0,
    pausedUntil: 0,
  }
  entries.set(key, made)
  return made
}

function ask(entry: Entry, path: string): void {
  if (entry.running !== undefined || Date.now() < entry.pausedUntil) return
  const abort = new AbortController()
  entry.abort = abort
  const running = callText('GET', path, { signal: abort.signal })
    .then((text) => {
      if (text !== entry.text) entry.data.value = JSON.parse(text)
      entry.text = text
      entry.trouble.value = undefined
      entry.failures = 0
    })
    .catch((error: unknown) => {
      if (abort.signal.aborted) return
      const trouble = error instanceof Trouble ? error : new Trouble(0, String(error))
      entry.trouble.value = trouble
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** entry.failures)
      entry.failures += 1
      entry.pausedUntil = Date.now() + (trouble.retryAfter ?? pause)
    })
    .finally(() => {
      if (entry.running === running) entry.running = undefined
    })
  entry.running = running
}

/** Gives up what is under way, so that the next one who shows it asks anew. */
function giveUp(entry: Entry): void {
  entry.abort?.abort()
  entry.running = undefined
}

/** Forgets all answers: another user, or another account. */
export function forgetAnswers(): void {
  for (const entry of entries.values()) giveUp(entry)
  entries.clear()
}

/**
 * The answer to GET `path`; asked for when it is shown, shared by all who show it, given up when nobody does.
 * @param path - undefined = nothing to ask
 */
export function useQuery<Answer>(
  path: string | undefined,
  query?: Readonly<Record<string, string | undefined>>,
): Query<Answer> {
  const whole = path === undefined ? undefined : pathOf(path, query)
  const key = `${accountId.value ?? ''} ${whole ?? ''}`
  const entry = useMemo(() => entryOf(key), [key])
  useEffect(() => {
    if (whole === undefined) return
    entry.users += 1
    ask(entry, whole)
    return () => {
      entry.users -= 1
      if (entry.users === 0) giveUp(entry)
    }
  }, [entry, whole])
  return {
    data: entry.data.value as Answer | undefined,
    trouble: entry.trouble.value,
    refresh: () => {
      if (whole !== undefined) ask(entry, whole)
    },
  }
}
