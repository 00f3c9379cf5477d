import { createTestClient, http, publicActions } from 'viem'

/** A client of an anvil node; a failed request is not repeated. */
export function anvilClient(rpcUrl: string) {
  return createTestClient({
    mode: 'anvil',
    transport: http(rpcUrl, { retryCount: 0 }),
    pollingInterval: 20,
  }).extend(publicActions)
}

export type AnvilClient = ReturnType<typeof anvilClient>
