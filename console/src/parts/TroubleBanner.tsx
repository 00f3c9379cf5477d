import type { Trouble } from '../api/call.js'
import { CopyButton } from './Hex.js'

type BannerProps = { readonly trouble: Trouble | undefined; onRetry(): void }

/** A request that failed: what it was, and its id for the log. What was shown before stays. */
export function TroubleBanner({ trouble, onRetry }: BannerProps) {
  if (trouble === undefined) return null
  return (
    <div class="trouble" role="alert">
      <p>
        <strong>{titleOf(trouble)}</strong> {trouble.message}
        {trouble.requestId !== undefined && (
          <span class="muted">
            {' '}
            Request <code>{trouble.requestId}</code>
            <CopyButton text={trouble.requestId} what="the request id" />
          </span>
        )}
      </p>
      {trouble.status !== 403 && trouble.status !== 404 && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

function titleOf({ status }: Trouble): string {
  if (status === 0) return 'No connection.'
  if (status === 403) return 'Not allowed.'
  if (status === 404) return 'Not found.'
  if (status === 429) return 'Too many requests.'
  return status >= 500 ? 'The service is in trouble.' : 'That did not work.'
}
