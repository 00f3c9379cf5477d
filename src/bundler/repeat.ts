import type { Logger } from 'pino'

/**
 * Looks again and again, `interval` milliseconds after the look before has ended; one that fails is made again the next
 * time. The function ends it.
 */
export function repeat(look: () => Promise<void>, interval: number, logger: Logger): () => void {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const next = (): void => {
    timer = setTimeout(() => {
      look()
        .catch((err) => logger.warn({ err }, 'operations with waiting requests could not be read'))
        .finally(() => isOver || next())
    }, interval)
  }
  next()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
