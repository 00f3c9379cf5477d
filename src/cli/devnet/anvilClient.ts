import { createTestClient, http, publicActions } from 'viem'

/** A client of an anvil node; a failed request is not repeated, and a slow machine has a minute for each. */
export function anvilClient(rpcUrl: string) {
  return createTestClient({
    mode: 'anvil',
    transport: http(rpcUrl, { retryCount: 0, timeout: 60_000 }),
    pollingInterval: 20,
  }).extend(publicActions)
}

export type AnvilClient = ReturnType<typeof anvilClient>
