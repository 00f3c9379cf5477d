import type { Explanation } from '../../api/shapes.js'
import { withCode } from '../../parts/Code.js'
import { plainly } from '../../parts/format.js'

const fixers: Readonly<Record<Explanation['culprit'], string>> = {
  user: 'the person with the account',
  app: 'the developer of the app',
  operator: 'the operator of Purser',
  chain: 'nobody: the chain decides',
}

type RemedyProps = {
  readonly code: string
  /** What was answered, with its numbers. */
  readonly message: string | null
  readonly explanation: Explanation | null
}

/** Why it is not fine: what was said, what that means, who can fix it and how. */
export function Remedy({ code, message, explanation }: RemedyProps) {
  return (
    <section class="remedy" aria-label="Why, and what to do">
      <p class="remedy-code">
        <code>{code}</code>
        {explanation !== null && <span>{withCode(explanation.meaning)}</span>}
      </p>
      {message !== null && message !== '' && <blockquote>{plainly(message)}</blockquote>}
      {explanation !== null && (
        <>
          <ol>
            {explanation.steps.map((step) => (
              <li key={step}>{withCode(step)}</li>
            ))}
          </ol>
          <p class="muted">Who can fix it: {fixers[explanation.culprit]}.</p>
        </>
      )}
    </section>
  )
}
