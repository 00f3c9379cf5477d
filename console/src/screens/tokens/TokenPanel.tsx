import { curl } from '../../api/curl.js'
import { chainName } from '../../api/names.js'
import type { Token } from '../../api/shapes.js'
import { Age } from '../../parts/Age.js'
import { Amount } from '../../parts/Amount.js'
import { decimalOf } from '../../parts/amounts.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { grouped, spanOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { Panel } from '../../parts/Panel.js'
import { Price } from './Price.js'
import './tokens.css'
import { groupedDecimal, markupOf, takenOf } from './prices.js'

type TokenPanelProps = { readonly token: Token; onClose(): void }

type Source = Token['sources'][number]

/** One token: its price, what each source said and when, and what the apps of the account took. */
export function TokenPanel({ token, onClose }: TokenPanelProps) {
  const { chainId, address, symbol, decimals, price, reason, readAt, sources, taken } = token
  return (
    <Panel
      name="Token"
      title={symbol}
      codes={[
        ['curl', curl('/tokens')],
        ['command', `purser token list --chain ${chainId}`],
      ]}
      onClose={onClose}
    >
      <div class="level">
        <p>
          <strong>
            <Price token={token} />
          </strong>{' '}
          {price !== null && symbol}
        </p>
        {readAt !== null && (
          <p class="muted">
            The sources were asked <Age at={readAt} /> ago.
          </p>
        )}
      </div>
      {price === null && (
        <p class="warn">
          Nobody can pay in {symbol} at the moment: {reason}. Requests for a quote are refused with{' '}
          <code>PRICE_STALE</code>; quotes that are signed keep their rate until they end, within
          two minutes. Senders can pay in another token meanwhile.
        </p>
      )}
      <section>
        <h3>Sources</h3>
        <ul class="sources">
          {sources.map((source, index) => (
            <li key={`${source.kind} ${index}`}>
              <strong>{titleOf(source)}</strong>
              <SourceState source={source} symbol={symbol} />
              <SourceNames source={source} />
            </li>
          ))}
        </ul>
        <p class="muted">
          {token.minimumSources} of {sources.length} must answer, at most{' '}
          {token.maxDeviation / 10_000} % apart. The price is the median of those that count.
        </p>
      </section>
      <section>
        <h3>Facts</h3>
        <Facts>
          <Fact name="Name">{token.name}</Fact>
          <Fact name="Chain">{chainName(chainId)}</Fact>
          <Fact name="Address">
            <Hex value={address} what="the address of the token" />
          </Fact>
          <Fact name="Decimals">{decimals}</Fact>
          <Fact name="Markup on the cost">{markupOf(token.markup)}</Fact>
          <Fact name="Taken by your apps">
            <span title={`${decimalOf(taken.collected, decimals)} ${symbol}`}>
              {takenOf(token)} {taken.collected !== '0' && symbol}
            </span>
          </Fact>
          <Fact name="Payments">{grouped(taken.payments)}</Fact>
          <Fact name="Not paid">
            {taken.missed === 0 ? (
              'none'
            ) : (
              <>
                {grouped(taken.missed)}, at a cost of <Amount chainId={chainId} wei={taken.lost} />
              </>
            )}
          </Fact>
        </Facts>
      </section>
    </Panel>
  )
}

function titleOf({ kind }: Source): string {
  if (kind === 'feeds') return 'Feeds on the chain'
  return kind === 'http' ? 'Server' : 'Fixed price'
}

function SourceState({ source, symbol }: { readonly source: Source; readonly symbol: string }) {
  if (source.price !== null)
    return (
      <span>
        {groupedDecimal(source.price, 4)} {symbol}
      </span>
    )
  return <span class="tag doubt">{source.reason === null ? 'not asked' : 'does not count'}</span>
}

function SourceNames({
  source: { names, reason, heartbeat, updatedAt },
}: {
  readonly source: Source
}) {
  return (
    <p class="muted">
      {names.map((name) =>
        name.startsWith('0x') ? (
          <Hex key={name} value={name} what="the address of the feed" />
        ) : (
          <span key={name}>{name}</span>
        ),
      )}
      {updatedAt !== null && (
        <span>
          updated <Age at={updatedAt} /> ago
        </span>
      )}
      {heartbeat !== null && <span>stale after {spanOf(heartbeat * 1_000)}</span>}
      {names.length === 0 && <span>a constant of the configuration, for development</span>}
      {reason !== null && <span class="reason">{reason}</span>}
    </p>
  )
}
