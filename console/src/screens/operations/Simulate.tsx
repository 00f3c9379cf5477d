import { useSignal } from '@preact/signals'
import { accountId, call } from '../../api/call.js'
import type { Simulation } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { Remedy } from './Remedy.js'

type SimulateProps = {
  readonly appId: string
  readonly chainId: number
  readonly entryPoint: string
  readonly operation: unknown
}

/** Asks whether the operation would be taken now, and says why not. */
export function Simulate({ appId, ...body }: SimulateProps) {
  const answer = useSignal<Simulation | undefined>(undefined)
  const trouble = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const ask = async (): Promise<void> => {
    isBusy.value = true
    trouble.value = undefined
    try {
      answer.value = await call<Simulation>('POST', `/apps/${appId}/simulate`, { body })
    } catch (error) {
      trouble.value = (error as Error).message
    }
    isBusy.value = false
  }
  // The service simulates for an account only.
  if (accountId.value === undefined) return null
  return (
    <section class="simulate" aria-live="polite">
      <div class="row">
        <ActButton needs="developer" onClick={() => void ask()}>
          {isBusy.value ? 'Simulating…' : 'Simulate it now'}
        </ActButton>
        <span class="muted">Keeps and sends nothing.</span>
      </div>
      {trouble.value !== undefined && <p class="trouble">{trouble.value}</p>}
      {answer.value?.accepted === true && <p class="fine">{answer.value.message}</p>}
      {answer.value?.accepted === false && (
        <Remedy
          code={answer.value.rule ?? String(answer.value.code)}
          message={answer.value.message}
          explanation={answer.value.explanation}
        />
      )}
    </section>
  )
}
