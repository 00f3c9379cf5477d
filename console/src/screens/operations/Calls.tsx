import type { Call } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { Hex } from '../../parts/Hex.js'

type CallsProps = { readonly calls: readonly Call[] | null; readonly chainId: number }

/** The calls that the account makes: by name where they are of a common standard. */
export function Calls({ calls, chainId }: CallsProps) {
  return (
    <section>
      <h3>Calls</h3>
      {calls === null && (
        <p class="muted">
          Purser does not know the call format of this account. The call data is in All fields.
        </p>
      )}
      {calls?.length === 0 && <p class="muted">It makes no call.</p>}
      <ol class="calls">
        {calls?.map((call, at) => (
          <li key={`${at} ${call.to}`}>
            <strong>{nameOf(call)}</strong> on{' '}
            <Hex value={call.to} what="the target" chainId={chainId} />
            {call.value !== '0' && (
              <>
                {' '}
                with <Amount chainId={chainId} wei={call.value} />
              </>
            )}
            {call.delegator !== null && (
              <>
                {' '}
                for delegator <Hex value={call.delegator} what="the delegator" />
              </>
            )}
            {call.delegate && <span class="tag doubt">delegatecall</span>}
            {call.function !== null && call.function.args.length > 0 && (
              <dl class="args">
                {call.function.args.map(({ name, value }) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>
                      {/^0x[0-9a-f]{20,}$/.test(value) ? (
                        <Hex value={value} what={name} />
                      ) : (
                        <code>{value}</code>
                      )}
                    </dd>
                  </div>
                ))}
              </dl>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

function nameOf({ function: known, data }: Call): string {
  if (known !== null) return known.signature
  if (data === '0x') return 'plain transfer'
  return `call ${data.slice(0, 10)} (${(data.length - 2) / 2} bytes)`
}
