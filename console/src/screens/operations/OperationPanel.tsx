import { useChanges } from '../../api/changes.js'
import { appName, chainName, payerName, payerWithoutPaymaster } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import { mayRun } from '../../api/role.js'
import { isReader } from '../../api/share.js'
import type { Advice, OperationDetail } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { grouped, shortOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { Json } from '../../parts/Json.js'
import { Loaded } from '../../parts/Loaded.js'
import { Panel } from '../../parts/Panel.js'
import { State, stateOf } from '../../parts/State.js'
import { operationCode } from './asCodeTexts.js'
import { Calls } from './Calls.js'
import { Cancel } from './Cancel.js'
import { Gas } from './Gas.js'
import { Remedy } from './Remedy.js'
import { Replay } from './Replay.js'
import { Share } from './Share.js'
import { Simulate } from './Simulate.js'
import { Durations, Timeline } from './Timeline.js'
import { Waterfall } from './Waterfall.js'

type OperationPanelProps = {
  readonly chainId: number
  readonly hash: string
  onClose(): void
}

/** One operation: why it is not fine, what happened, what it cost, and all its fields. */
export function OperationPanel({ chainId, hash, onClose }: OperationPanelProps) {
  const query = useQuery<OperationDetail>(`/operations/${chainId}/${hash}`)
  const { data } = query
  const isUnderWay = data?.state === 'pooled' || data?.state === 'bundled'
  useChanges(query.refresh, isUnderWay, data === undefined ? [] : [data.appId])
  return (
    <Panel
      name="Operation"
      title={
        <>
          {data !== undefined && <State name={stateOf(data)} />} <code>{shortOf(hash)}</code>
        </>
      }
      codes={operationCode(chainId, hash)}
      onClose={onClose}
    >
      <Loaded query={query} lines={8}>
        {(detail) => <Detail detail={detail} onChanged={query.refresh} />}
      </Loaded>
    </Panel>
  )
}

type DetailProps = {
  readonly detail: OperationDetail
  onChanged(): void
}

/** What is shown of an operation. */
export function Detail({ detail, onChanged }: DetailProps) {
  const { timeline, explanation, chainId } = detail
  const inclusion = timeline.findLast((entry) => entry.kind === 'included')
  const revert = inclusion?.kind === 'included' ? inclusion.revert : null
  const silence = useSilence(detail, detail.success === false && revert === null)
  return (
    <>
      {(explanation !== null || detail.code !== null) && (
        <Remedy
          code={explanation?.code ?? detail.code ?? ''}
          message={detail.success === false ? (revert ?? silence) : detail.reason}
          explanation={explanation}
        />
      )}
      {detail.success === false && <Replay detail={detail} />}
      <h3>What happened</h3>
      <Timeline entries={timeline} chainId={chainId} />
      <Durations entries={timeline} />
      {detail.state === 'pooled' && !isReader && (
        <div class="actions">
          <Cancel chainId={detail.chainId} hash={detail.userOpHash} onDone={onChanged} />
        </div>
      )}
      {(detail.state === 'pooled' || detail.state === 'dropped') && !isReader && (
        <Simulate
          appId={detail.appId}
          chainId={detail.chainId}
          entryPoint={detail.entryPoint}
          operation={detail.operation}
        />
      )}
      <Calls calls={detail.calls} chainId={chainId} />
      {detail.success !== false && <Replay detail={detail} />}
      <Gas operation={detail.operation} timeline={timeline} />
      <Waterfall detail={detail} />
      <section>
        <h3>Facts</h3>
        <Facts>
          <Fact name="Cost">
            {detail.actualCost !== null && <Amount chainId={chainId} wei={detail.actualCost} />}{' '}
            {detail.maxCost !== '0' && (
              <span class="muted">
                <Amount chainId={chainId} wei={detail.maxCost} isMost />
              </span>
            )}
          </Fact>
          {detail.attribution !== null && (
            <Fact name="Attributed to">{detail.attribution.codes.join(', ')}</Fact>
          )}
          <Fact name="Paid by">
            {detail.paymaster === null ? (
              `the ${payerWithoutPaymaster(detail.maxCost)}`
            ) : (
              <Hex
                value={detail.paymaster}
                what="the paymaster"
                name={payerName(chainId, detail.paymaster)}
                chainId={chainId}
              />
            )}
          </Fact>
          <Fact name="Sender">
            <Hex value={detail.sender} what="the sender" chainId={chainId} />
          </Fact>
          <Fact name="Hash">
            <Hex value={detail.userOpHash} what="the hash" />
          </Fact>
          <Fact name="EntryPoint">
            <Hex value={detail.entryPoint} what="the EntryPoint" />
          </Fact>
          <Fact name={isReader ? 'Chain' : 'App, chain'}>
            {!isReader && `${appName(detail.appId)}, `}
            {chainName(chainId)}
          </Fact>
        </Facts>
      </section>
      <section>
        <h3>All fields</h3>
        <Json value={detail.operation} />
      </section>
      {!isReader && <Share chainId={chainId} hash={detail.userOpHash} />}
    </>
  )
}

/** What a revert without data says: by a second run in its block, for those who may simulate. */
function useSilence(
  { chainId, userOpHash, operation }: OperationDetail,
  isSilent: boolean,
): string {
  const path = `/operations/${chainId}/${userOpHash}/advice`
  const advice = useQuery<Advice>(isSilent && mayRun() ? path : undefined)
  if (advice.data !== undefined) return advice.data.message
  const { callGasLimit } = operation
  const limit = typeof callGasLimit === 'string' ? grouped(BigInt(callGasLimit)) : '?'
  return `It gave no reason, as a call does that runs out of gas: its callGasLimit was ${limit}.`
}
