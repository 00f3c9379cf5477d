import { ReadsBusyError } from '../nodeErrors.js'

/** Reads under way at once, in all and of one app: no app takes all places from the others. */
const MOST_IN_ALL = 64
const MOST_OF_APP = 16
/** Reads of one app that wait for a place of its own: libraries send 100 in one batch. */
const MOST_WAITING = 200
/** Milliseconds for which one waits. */
const PATIENCE = 5_000

type Waiting = { readonly start: () => void }
type AppPlaces = { running: number; readonly waiting: Set<Waiting> }

/** The places of one chain's reads. */
export type ReadPlaces = {
  /** Runs a read as soon as its app has a place. Throws ReadsBusyError when it gets none in time. */
  run<Result>(appId: string, read: () => Promise<Result>): Promise<Result>
}

export function createReadPlaces(): ReadPlaces {
  const apps = new Map<string, AppPlaces>()
  let runningInAll = 0

  /** Resolves with a place of the app, which a read that ends hands on to the one that waits longest. */
  const enter = (places: AppPlaces): Promise<void> => {
    if (places.running < MOST_OF_APP) {
      places.running += 1
      return Promise.resolve()
    }
    if (places.waiting.size >= MOST_WAITING) throw new ReadsBusyError(places.running)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        places.waiting.delete(waiting)
        reject(new ReadsBusyError(places.running))
      }, PATIENCE)
      const waiting = {
        start: () => {
          clearTimeout(timer)
          places.waiting.delete(waiting)
          resolve()
        },
      }
      places.waiting.add(waiting)
    })
  }

  const leave = (appId: string, places: AppPlaces): void => {
    const [next] = places.waiting
    if (next === undefined) {
      places.running -= 1
      if (places.running === 0) apps.delete(appId)
    } else next.start()
  }

  return {
    async run(appId, read) {
      const places = apps.get(appId) ?? { running: 0, waiting: new Set() }
      apps.set(appId, places)
      await enter(places)
      try {
        if (runningInAll >= MOST_IN_ALL) throw new ReadsBusyError(runningInAll)
        runningInAll += 1
        try {
          return await read()
        } finally {
          runningInAll -= 1
        }
      } finally {
        leave(appId, places)
      }
    },
  }
}
