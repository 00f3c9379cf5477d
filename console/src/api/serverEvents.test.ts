import { expect, test } from 'vitest'
import { readEvents } from './serverEvents.js'

test('events are read whatever the pieces in which they come', async () => {
  const text =
    'retry: 1000\n\n: still here\n\nevent: changes\nid: 7\ndata: {"a":\ndata: 1}\n\nevent: cut'
  const bytes = new TextEncoder().encode(text)
  for (const size of [1, 5, bytes.length]) {
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size)
          controller.enqueue(bytes.slice(at, at + size))
        controller.close()
      },
    })
    const events = []
    let pieces = 0
    for await (const event of readEvents(body, () => pieces++)) events.push(event)
    expect(pieces).toBe(Math.ceil(bytes.length / size))
    expect(events).toEqual([
      { event: 'message', id: undefined, retry: 1_000 },
      { event: 'changes', id: '7', retry: undefined },
    ])
  }
})
