/** What one request may cost before anything is done for it. */
export type ApiLimits = {
  readonly bodyBytes: number
  readonly jsonDepth: number
  readonly batchLength: number
  /** Milliseconds to receive the headers, and to receive the whole request. */
  readonly headersTimeout: number
  readonly requestTimeout: number
  /** Milliseconds that running requests are given when the server closes. */
  readonly closeTimeout: number
}

export const defaultLimits: ApiLimits = {
  bodyBytes: 1024 * 1024,
  jsonDepth: 32,
  batchLength: 100,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  closeTimeout: 3_000,
}
