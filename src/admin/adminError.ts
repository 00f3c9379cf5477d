/** A refusal of the administration API, or an answer that is none of its own, such as a proxy's. */
export class AdminError extends Error {
  /** The HTTP status. */
  readonly status: number
  /** Figures behind the refusal, by name, where it has any. */
  readonly data: Readonly<Record<string, unknown>> | undefined
  /** The id under which the log of the service has the request. */
  readonly requestId: string | undefined
  /** Seconds after which to ask again, of refusals that pass. */
  readonly retryAfter: number | undefined

  private constructor(response: Response, { message, data }: Failure) {
    super(message ?? `The answer has the HTTP status ${response.status} and is not Purser's`)
    this.name = 'AdminError'
    this.status = response.status
    this.data = data
    this.requestId = response.headers.get('x-request-id') ?? undefined
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    this.retryAfter = Number.isNaN(seconds) ? undefined : seconds
  }

  static async of(response: Response): Promise<AdminError> {
    return new AdminError(response, failureIn(await response.text()))
  }
}

type Failure = {
  readonly message?: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** The members of a failure; none where the text is something else. */
function failureIn(text: string): Failure {
  try {
    const value: unknown = JSON.parse(text)
    const isFailure =
      typeof value === 'object' &&
      value !== null &&
      'message' in value &&
      typeof value.message === 'string'
    return isFailure ? (value as Failure) : {}
  } catch {
    return {}
  }
}
