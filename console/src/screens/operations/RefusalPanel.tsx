import { useQuery } from '../../api/query.js'
import type { RefusalDetail } from '../../api/shapes.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { momentOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { Json } from '../../parts/Json.js'
import { Loaded } from '../../parts/Loaded.js'
import { Panel } from '../../parts/Panel.js'
import { State } from '../../parts/State.js'
import { recordCode } from './asCodeTexts.js'
import { decisionIdIn, PolicyLink } from './PolicyLink.js'
import { Remedy } from './Remedy.js'
import { Simulate } from './Simulate.js'

/** One refused request: why, what to do, what was asked and what was answered. */
export function RefusalPanel({ id, onClose }: { readonly id: string; onClose(): void }) {
  const query = useQuery<RefusalDetail>(`/refusals/${id}`)
  const { data } = query
  const decisionId = decisionIdIn(data?.data)
  return (
    <Panel
      name="Refusal"
      title={
        <>
          <State name="refused" /> {data !== undefined && <code>{data.method}</code>}
        </>
      }
      codes={recordCode('refusals', id)}
      onClose={onClose}
    >
      <Loaded query={query} lines={6}>
        {(data) => (
          <>
            <Remedy
              code={data.rule ?? String(data.code)}
              message={data.message}
              explanation={data.explanation}
            />
            {decisionId !== undefined && <PolicyLink decisionId={decisionId} />}
            <Facts>
              <Fact name="Refused">{momentOf(data.at)}</Fact>
              <Fact name="Answer">JSON-RPC error {data.code}</Fact>
              {data.sender !== null && (
                <Fact name="Sender">
                  <Hex value={data.sender} what="the sender" />
                </Fact>
              )}
              <Fact name="Request">
                <Hex value={data.requestId} what="the request id" />
              </Fact>
            </Facts>
            <Again of={data} />
            <section>
              <h3>What was asked</h3>
              {data.request === null ? (
                <p class="muted">It was longer than what is kept.</p>
              ) : (
                <Json value={data.request} />
              )}
            </section>
            {data.data !== null && data.data !== undefined && (
              <section>
                <h3>Data of the answer</h3>
                <Json value={data.data} />
              </section>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

/** Tries what was sent once more, where all of it was kept. */
function Again({ of }: { readonly of: RefusalDetail }) {
  const { appId, chainId, entryPoint, method, request } = of
  const [operation] = Array.isArray(request) ? (request as unknown[]) : []
  if (method !== 'eth_sendUserOperation' || entryPoint === null || operation === undefined)
    return null
  return <Simulate appId={appId} chainId={chainId} entryPoint={entryPoint} operation={operation} />
}
