export type Watchers = {
  /** Operations whose states were told, over all watchers. */
  told(): number
  close(): void
}

/** So many streams of an app's changes, each read as it comes. Throws when one does not open. */
export async function openWatchers(
  url: string,
  authToken: string,
  count: number,
): Promise<Watchers> {
  const abort = new AbortController()
  const state = { told: 0 }
  const headers = { authToken }
  for (let opened = 0; opened < count; opened++) {
    const response = await fetch(url, { headers, signal: abort.signal })
    if (response.status !== 200 || response.body === null)
      throw new Error(`a stream was answered with ${response.status}`)
    read(response.body, state).catch(() => {})
  }
  return { told: () => state.told, close: () => abort.abort() }
}

async function read(body: ReadableStream<Uint8Array>, state: { told: number }): Promise<void> {
  const decoder = new TextDecoder()
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>)
    state.told += decoder.decode(chunk, { stream: true }).split('"userOpHash"').length - 1
}
