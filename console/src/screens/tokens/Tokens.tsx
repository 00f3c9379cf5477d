import { accountId } from '../../api/call.js'
import { useChanges } from '../../api/changes.js'
import { useQuery } from '../../api/query.js'
import type { Page, Token } from '../../api/shapes.js'
import { Age } from '../../parts/Age.js'
import { Code } from '../../parts/Code.js'
import { Empty } from '../../parts/Empty.js'
import { ListActs } from '../../parts/ListActs.js'
import { LoadedRows } from '../../parts/LoadedRows.js'
import { NoAccount } from '../../parts/NoAccount.js'
import { Absent, Split } from '../../parts/Split.js'
import type { Column } from '../../parts/Table.js'
import { go, hrefOf, place } from '../../router.js'
import { Price, Trust } from './Price.js'
import { markupOf, oldestOf, takenOf } from './prices.js'
import { TokenPanel } from './TokenPanel.js'

/** The tokens that gas can be paid with, and the open one: `tokens/CHAIN/ADDRESS`. */
export function Tokens() {
  const isOfAccount = accountId.value !== undefined
  const [, chain, address] = place.value.path.split('/')
  const tokens = useQuery<Page<Token>>(isOfAccount ? '/tokens' : undefined)
  useChanges(tokens.refresh, isOfAccount)
  if (!isOfAccount) return <NoAccount />
  const key = address === undefined ? undefined : `${chain}/${address}`
  const open = tokens.data?.items.find((token) => keyOf(token) === key)
  return (
    <Split
      panel={
        key === undefined ? undefined : open === undefined ? (
          <Absent query={tokens} what="token" all="All tokens" href={hrefOf('tokens')} />
        ) : (
          <TokenPanel key={key} token={open} onClose={() => go(hrefOf('tokens'))} />
        )
      }
    >
      <div class="row">
        <h1>Tokens</h1>
        <span class="grow" />
        <ListActs
          path="/tokens"
          title="Tokens as code"
          command={`purser token list --chain ${tokens.data?.items[0]?.chainId ?? 'CHAIN'}`}
        />
      </div>
      <p class="muted">
        Gas can be paid in these tokens. A quote is signed at the price of the moment; without a
        price that can be relied on it is refused, and no older one takes its place.
      </p>
      <div class="list">
        <LoadedRows
          query={tokens}
          lines={3}
          label="Tokens"
          columns={columns}
          openKey={key}
          keyOf={keyOf}
          hrefOf={(token) => hrefOf(`tokens/${keyOf(token)}`)}
          empty={<NoToken />}
        />
      </div>
    </Split>
  )
}

function keyOf({ chainId, address }: Token): string {
  return `${chainId}/${address}`
}

const columns: readonly Column<Token>[] = [
  {
    name: 'Token',
    cell: ({ symbol, name }) => (
      <>
        <strong>{symbol}</strong> <span class="muted">{name}</span>
      </>
    ),
  },
  { name: 'Price', isNumber: true, cell: (token) => <Price token={token} /> },
  { name: 'Sources', cell: (token) => <Trust token={token} /> },
  {
    name: 'Age',
    cell: (token) => {
      const oldest = oldestOf(token)
      return oldest === undefined ? '–' : <Age at={oldest} />
    },
  },
  { name: 'Chain', shown: 'wide', cell: ({ chainId }) => chainId },
  { name: 'Markup', shown: 'widest', isNumber: true, cell: ({ markup }) => markupOf(markup) },
  { name: 'Taken', shown: 'wide', isNumber: true, cell: takenOf },
]

/** In the configuration of a chain. */
const SETTING = `"tokens": [
  {
    "address": "0xTOKEN", "symbol": "USDC", "decimals": 6, "markup": 1050000,
    "sources": [{ "feeds": {
      "token": { "address": "0xFEED", "heartbeat": 86400 },
      "native": { "address": "0xFEED", "heartbeat": 3600 } } }]
  }
]`

function NoToken() {
  return (
    <Empty title="Gas is paid in no token here">
      <p>
        The operator configures tokens for each chain, with the sources of their price. Then senders
        can pay with them through a token tank.
      </p>
      <Code what="the setting" text={SETTING} />
    </Empty>
  )
}
