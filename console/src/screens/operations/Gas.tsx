import type { OperationDetail } from '../../api/shapes.js'
import { Bar } from '../../parts/Bar.js'

const limits = [
  ['callGasLimit', 'Call'],
  ['verificationGasLimit', 'Verification'],
  ['preVerificationGas', 'preVerification'],
  ['paymasterVerificationGasLimit', 'Paymaster'],
  ['paymasterPostOpGasLimit', 'Paymaster, afterwards'],
] as const

/** Gas: what was used of all that the operation allowed, and its limits one by one. */
export function Gas({ operation, timeline }: Pick<OperationDetail, 'operation' | 'timeline'>) {
  const shown = limits.flatMap(([field, name]) => {
    const value = operation[field]
    return typeof value === 'string' && BigInt(value) > 0n ? [{ name, limit: BigInt(value) }] : []
  })
  const whole = shown.reduce((sum, { limit }) => sum + limit, 0n)
  const inclusion = timeline.findLast((entry) => entry.kind === 'included')
  const used = inclusion?.kind === 'included' ? BigInt(inclusion.actualGasUsed) : undefined
  return (
    <section>
      <h3>Gas</h3>
      <Bar name={used === undefined ? 'Allowed' : 'Used'} used={used} limit={whole} />
      <div class="bars">
        {shown.map(({ name, limit }) => (
          <Bar key={name} name={`${name} limit`} used={undefined} limit={limit} />
        ))}
      </div>
    </section>
  )
}
