/** One server-sent event, without its data, which nobody reads; `retry` is the wait in milliseconds that the service asks for. */
type ServerEvent = {
  readonly event: string
  readonly id: string | undefined
  readonly retry: number | undefined
}

/** The event of one block of lines; undefined for a comment. */
function parseEvent(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const at = line.indexOf(':')
    if (at <= 0) continue
    fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ''))
  }
  if (fields.size === 0) return undefined
  const retry = Number(fields.get('retry') ?? Number.NaN)
  return {
    event: fields.get('event') ?? 'message',
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
