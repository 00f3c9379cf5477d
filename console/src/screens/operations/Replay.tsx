import { useSignal } from '@preact/signals'
import { useQuery } from '../../api/query.js'
import { isReader } from '../../api/share.js'
import type { OperationDetail, Replayed } from '../../api/shapes.js'
import { Skeleton } from '../../parts/Skeleton.js'
import { Frames } from './Frames.js'
import { type Changes, WhatIf } from './WhatIf.js'

type ReplayProps = {
  readonly detail: Pick<
    OperationDetail,
    'chainId' | 'userOpHash' | 'success' | 'state' | 'operation' | 'paymaster'
  >
}

/** The run of an operation, call by call: of one that failed at once, of another when it is asked for. */
export function Replay({ detail }: ReplayProps) {
  const { chainId, userOpHash, success, state } = detail
  const hasFailed = success === false || state === 'dropped'
  const isWanted = useSignal(hasFailed)
  const changes = useSignal<Changes>({})
  const path = `/operations/${chainId}/${userOpHash}/replay`
  const { data, trouble } = useQuery<Replayed>(isWanted.value ? path : undefined, changes.value)
  const isChanged = Object.keys(changes.value).length > 0
  return (
    <section class="replay">
      <h3>Its run</h3>
      {!isWanted.value && (
        <button
          type="button"
          onClick={() => {
            isWanted.value = true
          }}
        >
          Show each call
        </button>
      )}
      {trouble !== undefined && data === undefined && (
        <p class={isChanged ? 'trouble' : 'muted'}>
          {trouble.status === 404 ? NOTHING : trouble.message}
        </p>
      )}
      {data === undefined && trouble === undefined && isWanted.value && <Skeleton lines={4} />}
      {data !== undefined && (
        <>
          <p class={data.isChanged ? (data.success ? 'fine' : 'trouble') : 'muted'}>
            {sentenceOf(data)}
          </p>
          <Frames run={data} chainId={chainId} />
        </>
      )}
      {!isReader && (data !== undefined || isChanged) && (
        <WhatIf
          operation={detail.operation}
          hasPaymaster={detail.paymaster !== null}
          changes={changes}
        />
      )}
    </section>
  )
}

const NOTHING = 'It ran no code, or what it read was not kept: it cannot be run again.'

/** Which run it is, and how it ended. */
function sentenceOf({ moment, block, success, isChanged, hasRead, actualGasUsed }: Replayed) {
  const gas =
    actualGasUsed === null ? '' : `, for ${BigInt(actualGasUsed).toLocaleString('en')} gas`
  if (isChanged) {
    const read = hasRead ? ' What the first run had not read came from the node.' : ''
    const end = success ? `it succeeds${gas}` : `it fails${gas}`
    return `With these changes ${end}. Nothing is sent, and its signature is not checked.${read}`
  }
  if (moment === 'mined') return `As in its block, ${block}.`
  if (moment === 'refused') return `Its validation on block ${block}, where it was refused.`
  return `By itself, on the state of block ${block}: ${success ? 'it succeeds' : 'it fails'}${gas}.`
}
