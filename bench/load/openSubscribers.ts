export type Subscribers = {
  /** Operations whose states were received, over all subscribers. */
  received(): number
  close(): void
}

/** So many streams of an app's changes, each read as it comes. Throws when one does not open. */
export async function openSubscribers(
  url: string,
  authToken: string,
  count: number,
): Promise<Subscribers> {
  const abort = new AbortController()
  const state = { received: 0 }
  const headers = { authToken }
  for (let opened = 0; opened < count; opened++) {
    const response = await fetch(url, { headers, signal: abort.signal })
    if (response.status !== 200 || response.body === null)
      throw new Error(`a stream was answered with ${response.status}`)
    read(response.body, state).catch(() => {})
  }
  return { received: () => state.received, close: () => abort.abort() }
}

async function read(body: ReadableStream<Uint8Array>, state: { received: number }): Promise<void> {
  const decoder = new TextDecoder()
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>)
    state.received += decoder.decode(chunk, { stream: true }).split('"userOpHash"').length - 1
}
