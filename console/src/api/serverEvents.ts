/** One server-sent event; `retry` is the wait in milliseconds that the service asks for. */
export type ServerEvent = {
  readonly event: string
  readonly data: string
  readonly id: string | undefined
  readonly retry: number | undefined
}

/** The event of one block of lines; undefined for a comment. */
export function parseEvent(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const at = line.indexOf(':')
    if (at <= 0) continue
    const name = line.slice(0, at)
    const value = line.slice(at + 1).replace(/^ /, '')
    fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value)
  }
  if (fields.size === 0) return undefined
  const retry = Number(fields.get('retry') ?? Number.NaN)
  return {
    event: fields.get('event') ?? 'message',
    data: fields.get('data') ?? '',
    id: fields.get('id'),
    retry: Number.isFinite(retry) ? retry : undefined,
  }
}

/** The events of an answer, as they come. @param heard - called for all input, also for what is no event */
export async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  heard: () => void,
): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    heard()
    const blocks = (text + value.replaceAll('\r', '')).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = parseEvent(block)
      if (event !== undefined) yield event
    }
  }
}
