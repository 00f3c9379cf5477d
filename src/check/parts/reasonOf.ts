/** The words of an error, of its cause where that is nearer to the trouble; one line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed without a reason'
  const { cause, message } = error
  const nearest = cause instanceof Error ? cause : error
  const { code } = nearest as { code?: unknown }
  const words = nearest.message || (typeof code === 'string' ? code : '') || message
  return (words.split('\n')[0] ?? '').trim().replace(/\.$/, '') || 'it does not answer'
}
