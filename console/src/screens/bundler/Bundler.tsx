import { useChanges } from '../../api/changes.js'
import { curl } from '../../api/curl.js'
import { chainName } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import { session } from '../../api/session.js'
import type { Chain, Executor, Node, Page, PoolSummary, Reputation } from '../../api/shapes.js'
import { Age } from '../../parts/Age.js'
import { Amount } from '../../parts/Amount.js'
import { AsCodeButton } from '../../parts/AsCodeButton.js'
import { CsvButton } from '../../parts/CsvButton.js'
import { Empty } from '../../parts/Empty.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { grouped, spanOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { Loaded } from '../../parts/Loaded.js'
import { Options } from '../../parts/Options.js'
import { type Column, Table } from '../../parts/Table.js'
import { go, hrefOf, place, searchWith } from '../../router.js'
import { Paged } from '../operations/Paged.js'
import { useList } from '../operations/useList.js'
import { Section } from '../settings/Section.js'
import { Bundles } from './Bundles.js'
import { Rehearsal } from './Rehearsal.js'

/** What the bundler does on a chain, for operators: `bundler?chain=…`, `bundler/CHAIN/BUNDLE`. */
export function Bundler() {
  const chains = useQuery<Page<Chain>>('/chains')
  const { path, search } = place.value
  const [, chainInPath, bundleId] = path.split('/')
  if (session.value?.user.isOperator !== true)
    return (
      <Empty title="The bundler is the operator's">
        <p>
          It sends the operations of all accounts. Yours are under{' '}
          <a href={hrefOf('operations')}>Operations</a>.
        </p>
      </Empty>
    )
  return (
    <Loaded query={chains} lines={8}>
      {({ items }) => {
        const wanted = Number(chainInPath ?? search.get('chain') ?? items[0]?.chainId)
        const chain = items.find(({ chainId }) => chainId === wanted)
        if (chain === undefined) return <Empty title="This chain is not served at the moment" />
        return (
          <div class="screen">
            <div class="row">
              <h1>Bundler</h1>
              <span class={chain.bundled ? 'tag good' : 'tag doubt'}>
                {chain.bundled ? 'bundling' : 'nobody bundles'}
              </span>
              <span class="grow" />
              <select
                aria-label="Chain"
                value={chain.chainId}
                onChange={(event) =>
                  go(hrefOf('bundler', searchWith({ chain: event.currentTarget.value })))
                }
              >
                <Options of={items.map(({ chainId }) => [chainId, chainName(chainId)])} />
              </select>
            </div>
            <Overview key={chain.chainId} chain={chain} />
            <Bundles chainId={chain.chainId} openId={bundleId} />
            <Executors chainId={chain.chainId} />
            <Rehearsal key={chain.chainId} chain={chain} />
            <Nodes chainId={chain.chainId} />
            <Reputations chainId={chain.chainId} />
          </div>
        )
      }}
    </Loaded>
  )
}

function gwei(value: number | null): string {
  return value === null ? '–' : `${(value / 1e9).toPrecision(3)} gwei`
}

function Overview({ chain }: { readonly chain: Chain }) {
  const pool = useQuery<PoolSummary>(`/chains/${chain.chainId}/pool`)
  useChanges(pool.refresh, true)
  return (
    <section class="card" aria-label="Pool">
      <div class="card-head">
        <h2>Pool</h2>
        <AsCodeButton title="Pool" codes={[['curl', curl(`/chains/${chain.chainId}/pool`)]]} />
      </div>
      <Loaded query={pool} lines={2}>
        {({ pooled, bundled, oldestAt, tips }) => (
          <Facts>
            <Fact name="Waiting">{grouped(pooled)}</Fact>
            <Fact name="In signed bundles">{grouped(bundled)}</Fact>
            <Fact name="Oldest waiting">
              {oldestAt === null ? 'nothing waits' : <Age at={oldestAt} />}
            </Fact>
            <Fact name="Tips: lowest tenth">{gwei(tips.p10)}</Fact>
            <Fact name="Tips: half of them">{gwei(tips.p50)}</Fact>
            <Fact name="Tips: highest tenth">{gwei(tips.p90)}</Fact>
            <Fact name="Head">
              {chain.head === null ? 'not read recently' : grouped(chain.head)}
              {chain.headAge !== null && <span class="muted">, {spanOf(chain.headAge)} old</span>}
            </Fact>
          </Facts>
        )}
      </Loaded>
    </section>
  )
}

const tones = { ready: 'good', busy: '', paused: 'doubt' } as const

type OfChain = { readonly chainId: number }

function Executors({ chainId }: OfChain) {
  const executors = useQuery<Page<Executor>>(`/chains/${chainId}/executors`)
  return (
    <Section
      title="Executors"
      query={executors}
      path={`/chains/${chainId}/executors`}
      columns={[
        { name: 'Address', cell: ({ address }) => <Hex value={address} what="the address" /> },
        { name: 'State', cell: ({ state }) => <span class={`tag ${tones[state]}`}>{state}</span> },
        { name: 'Role', shown: 'wide', cell: ({ role }) => role },
        { name: 'In flight', shown: 'wide', isNumber: true, cell: ({ inFlight }) => inFlight },
        {
          name: 'Balance',
          isNumber: true,
          cell: ({ balance }) => <Amount chainId={chainId} wei={balance} />,
        },
      ]}
      keyOf={({ address }) => address}
      empty="This process never bundles"
    />
  )
}

function Nodes({ chainId }: OfChain) {
  const nodes = useQuery<Page<Node>>(`/chains/${chainId}/nodes`)
  return (
    <Section
      title="Nodes, preferred first"
      query={nodes}
      path={`/chains/${chainId}/nodes`}
      columns={[
        { name: 'Node', cell: ({ host }) => <code>{host}</code> },
        {
          name: 'State',
          cell: ({ behind, pausedUntil }) => {
            if (pausedUntil !== null) return <span class="tag bad">paused</span>
            return (
              <span class={`tag ${behind ? 'doubt' : 'good'}`}>{behind ? 'behind' : 'fine'}</span>
            )
          },
        },
        {
          name: 'Not asked for',
          shown: 'wide',
          cell: ({ failing }) => (failing.length === 0 ? '–' : failing.join(', ')),
        },
      ]}
      keyOf={({ host }) => host}
      empty="No node"
    />
  )
}

const reputationColumns: readonly Column<Reputation>[] = [
  { name: 'Entity', cell: ({ address }) => <Hex value={address} what="the entity" /> },
  {
    name: 'EntryPoint',
    shown: 'wide',
    cell: ({ entryPoint }) => <Hex value={entryPoint} what="the EntryPoint" />,
  },
  { name: 'Seen', isNumber: true, cell: ({ opsSeen }) => grouped(opsSeen) },
  { name: 'Included', isNumber: true, cell: ({ opsIncluded }) => grouped(opsIncluded) },
]

function Reputations({ chainId }: OfChain) {
  const path = `/chains/${chainId}/reputation`
  const title = 'Reputation (ERC-7562)'
  const keyOf = ({ entryPoint, address }: Reputation) => `${entryPoint} ${address}`
  const list = useList<Reputation>(path, {}, keyOf, () => false)
  return (
    <section class="card flush" aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        <CsvButton path={path} isPaged />
        <AsCodeButton title={title} codes={[['curl', curl(path)]]} />
      </div>
      <Paged list={list} lines={3} empty={<Empty title="No entity was seen recently" />}>
        {(rows) => <Table label={title} columns={reputationColumns} rows={rows} keyOf={keyOf} />}
      </Paged>
    </section>
  )
}
