import { useQuery } from '../../api/query.js'
import { mayRun } from '../../api/role.js'
import type { OperationDetail, Waterfall as Answer } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { grouped } from '../../parts/format.js'
import { Loaded } from '../../parts/Loaded.js'

type Kind = Answer['parts'][number]['kind']

const names: Readonly<Record<Kind, string>> = {
  bundleShare: "Share of the bundle's fixed costs",
  calldata: "Call data and the EntryPoint's loop",
  dataFee: 'Data fee of the chain',
  excess: 'preVerificationGas above need',
  preVerification: 'preVerificationGas',
  account: 'Validation of the account',
  paymaster: 'Validation of the paymaster',
  validationWork: "EntryPoint's work, validation",
  call: "The account's call",
  postOp: 'Paymaster, afterwards (postOp)',
  executionWork: "EntryPoint's work, execution",
  unusedGas: 'Penalty for unused gas',
  neighbours: 'Operations before it in its block',
  metered: 'Everything else',
  capped: 'Capped at the prefund',
}

/** Where the money of an included operation went; it is run again for that, by those who may simulate. */
export function Waterfall({ detail }: { readonly detail: OperationDetail }) {
  const { chainId, userOpHash, state } = detail
  const isShown = state === 'included' && mayRun()
  const path = `/operations/${chainId}/${userOpHash}/waterfall`
  const query = useQuery<Answer>(isShown ? path : undefined)
  if (!isShown) return null
  return (
    <section>
      <h3>Where the money went</h3>
      <Loaded query={query} lines={6}>
        {(answer) => <Parts answer={answer} chainId={chainId} />}
      </Loaded>
    </section>
  )
}

function Parts({ answer, chainId }: { readonly answer: Answer; readonly chainId: number }) {
  const { prefund, refund, charge, parts, hints, bundle, state } = answer
  const share = (wei: string) =>
    charge === '0' ? '' : `${Number((BigInt(wei) * 1_000n) / BigInt(charge)) / 10} %`
  return (
    <>
      <table>
        <thead>
          <tr>
            <th>Part</th>
            <th class="number">Gas</th>
            <th class="number">Share</th>
            <th class="number">Cost</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td colSpan={3}>Reserved (prefund)</td>
            <td class="number">
              <Amount wei={prefund} chainId={chainId} />
            </td>
          </tr>
          <tr>
            <td colSpan={3}>Given back</td>
            <td class="number">
              <Amount wei={refund} chainId={chainId} />
            </td>
          </tr>
          {parts.map(({ kind, gas, wei }) => (
            <tr key={kind}>
              <td>{names[kind]}</td>
              <td class="number">{grouped(BigInt(gas))}</td>
              <td class="number">{share(wei)}</td>
              <td class="number">
                <Amount wei={wei} chainId={chainId} />
              </td>
            </tr>
          ))}
          <tr>
            <th colSpan={3}>Charged</th>
            <th class="number">
              <Amount wei={charge} chainId={chainId} />
            </th>
          </tr>
        </tbody>
      </table>
      {hints.map(({ kind, percent, wei, message }) => (
        <p key={kind}>
          <b>{percent} %</b> (<Amount wei={wei} chainId={chainId} />
          ): {message}
        </p>
      ))}
      {bundle?.margin != null && (
        <p class="muted">
          {bundle.operations === 1
            ? 'It was alone in its bundle, which was charged'
            : `Its bundle of ${bundle.operations} operations was charged`}{' '}
          <Amount wei={bundle.charges} chainId={chainId} /> and left{' '}
          <Amount wei={bundle.margin} chainId={chainId} /> to the executor.
        </p>
      )}
      {state !== 'before' && (
        <p class="muted">
          {state === null
            ? 'It could not be run again in its block.'
            : 'The node has lost the state of its block: it was run on the newest one.'}
        </p>
      )}
    </>
  )
}
