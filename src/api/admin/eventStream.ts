/** Milliseconds between comments that keep proxies from closing a quiet stream; before each, the caller is looked at again. */
const HEARTBEAT = 15_000
/** Milliseconds after which a stream ends; its client comes back, maybe to another replica. */
const LIFE = 600_000
/** Events that wait for a client that reads slowly; then its connection is cut. */
const MOST_WAITING = 16
/** Milliseconds in which a client must have read the end of its stream. */
const GRACE = 5_000

type EventSource = {
  /** Whether the caller may still have what is sent. */
  readonly isStillLetIn: () => Promise<boolean>
  /** Cuts the connection. */
  readonly cut: () => void
  /** Begins to send; returns the function that stops it. `end` says that nothing more will come. Throws what the client is answered. */
  readonly begin: (writer: {
    readonly send: (event: string) => void
    readonly end: () => void
  }) => () => void
}

/**
 * The body of an answer of server-sent events. The stream ends when the source ends, after ten minutes, and within
 * `HEARTBEAT` after its caller was shut out. What a client does not read is kept up to `MOST_WAITING` events, then
 * the connection is cut.
 */
export function eventStream({ isStillLetIn, cut, begin }: EventSource): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const stops: (() => void)[] = []
  let hasEnded = false
  let writer: ReadableStreamDefaultController<Uint8Array> | undefined

  function stop(): void {
    hasEnded = true
    for (const each of stops.splice(0)) each()
  }

  function end(): void {
    if (hasEnded) return
    stop()
    writer?.close()
    const timer = setTimeout(cut, GRACE)
    timer.unref()
  }

  function send(text: string): void {
    if (hasEnded || writer === undefined) return
    if ((writer.desiredSize ?? 0) < -MOST_WAITING) {
      stop()
      cut()
    } else writer.enqueue(encoder.encode(text))
  }

  function beat(): void {
    isStillLetIn().then(
      (isLetIn) => (isLetIn ? send(': still here\n\n') : end()),
      // When the check itself fails, the client reconnects and is checked then.
      end,
    )
  }

  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      writer = controller
    },
    cancel: stop,
  })
  // Clients come back a second after the stream has ended, also when this process stops.
  send('retry: 1000\n\n')
  const heartbeat = setInterval(beat, HEARTBEAT)
  const life = setTimeout(end, LIFE)
  stops.push(
    () => clearInterval(heartbeat),
    () => clearTimeout(life),
  )
  try {
    const leave = begin({ send, end })
    if (hasEnded) leave()
    else stops.push(leave)
  } catch (error) {
    stop()
    throw error
  }
  return stream
}
