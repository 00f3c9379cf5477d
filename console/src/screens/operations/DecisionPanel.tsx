import { useQuery } from '../../api/query.js'
import type { DecisionDetail } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { momentOf, plainly } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { Json } from '../../parts/Json.js'
import { Loaded } from '../../parts/Loaded.js'
import { Panel } from '../../parts/Panel.js'
import { State } from '../../parts/State.js'
import { hrefOf } from '../../router.js'
import { recordCode } from './asCodeTexts.js'
import { PolicyLink } from './PolicyLink.js'
import { Remedy } from './Remedy.js'

/** One decision about a sponsorship: its outcome, what to do, who said what. */
export function DecisionPanel({ id, onClose }: { readonly id: string; onClose(): void }) {
  const query = useQuery<DecisionDetail>(`/decisions/${id}`)
  const { data } = query
  return (
    <Panel
      name="Decision"
      title={
        <>
          {data?.sponsored === false && <State name="refused" />}{' '}
          {data?.sponsored === true ? 'Sponsored' : 'Sponsorship'}
        </>
      }
      codes={recordCode('decisions', id)}
      onClose={onClose}
    >
      <Loaded query={query} lines={6}>
        {(data) => (
          <>
            {data.sponsored ? (
              <p>{plainly(data.message)}</p>
            ) : (
              <Remedy code={data.code} message={data.message} explanation={data.explanation} />
            )}
            <PolicyLink decisionId={id} />
            <Facts>
              <Fact name="Decided">{momentOf(data.createdAt)}</Fact>
              {data.maxCost !== '0' && (
                <Fact name="Max cost">
                  <Amount chainId={data.chainId} wei={data.maxCost} isMost />
                </Fact>
              )}
              <Fact name="Sender">
                <Hex value={data.sender} what="the sender" />
              </Fact>
              {data.policyId !== null && (
                <Fact name="Policy">
                  <a href={hrefOf(`policies/${data.policyId}`)}>the one that decided</a>
                </Fact>
              )}
              {data.userOpHash !== null && (
                <Fact name="Operation">
                  <a href={hrefOf(`operations/${data.chainId}/${data.userOpHash}`)}>
                    {data.userOpHash.slice(0, 10)}…
                  </a>
                </Fact>
              )}
            </Facts>
            {Object.keys(data.details).length > 0 && (
              <section>
                <h3>Verdicts and numbers</h3>
                <Json value={data.details} />
              </section>
            )}
            {data.webhookCalls.length > 0 && (
              <section>
                <h3>Webhooks</h3>
                <Json value={data.webhookCalls} />
              </section>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}
