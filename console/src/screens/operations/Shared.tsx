import { useNames } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import type { OperationDetail } from '../../api/shapes.js'
import { shortOf } from '../../parts/format.js'
import { Skeleton } from '../../parts/Skeleton.js'
import { State, stateOf } from '../../parts/State.js'
import { place } from '../../router.js'
import { Gate } from '../signIn/Gate.js'
import { Detail } from './OperationPanel.js'

/** One operation for readers who have a link to it, and no account. */
export function Shared() {
  useNames()
  const [, chainId, hash] = place.value.path.split('/')
  const { data, trouble, refresh } = useQuery<OperationDetail>(`/operations/${chainId}/${hash}`)
  if (data === undefined && trouble !== undefined)
    return (
      <Gate title="This link shows nothing" trouble={trouble.message}>
        <p>Ask the person who sent it for a new one.</p>
      </Gate>
    )
  return (
    <main class="shared">
      <div class="card">
        <header class="panel-head">
          <h1>
            {data !== undefined && <State name={stateOf(data)} />}{' '}
            <code>{shortOf(hash ?? '')}</code>
          </h1>
        </header>
        <div class="panel-body">
          {data === undefined ? (
            <Skeleton lines={8} />
          ) : (
            <Detail detail={data} onChanged={refresh} />
          )}
        </div>
      </div>
    </main>
  )
}
