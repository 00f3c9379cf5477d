import { useSignal } from '@preact/signals'
import { accountId, call } from '../../api/call.js'
import type { Simulation } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { useAct } from '../../parts/useAct.js'
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
  const { isBusy, trouble, run } = useAct()
  const ask = async (): Promise<void> => {
    answer.value = await call<Simulation>('POST', `/apps/${appId}/simulate`, { body })
  }
  // The service simulates for an account only.
  if (accountId.value === undefined) return null
  return (
    <section class="simulate" aria-live="polite">
      <div class="row">
        <ActButton needs="developer" onClick={() => run(ask)}>
          {isBusy ? 'Simulating…' : 'Simulate it now'}
        </ActButton>
        <span class="muted">Keeps and sends nothing.</span>
      </div>
      {trouble !== undefined && <p class="trouble">{trouble}</p>}
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
