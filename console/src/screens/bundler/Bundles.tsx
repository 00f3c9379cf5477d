import { useChanges } from '../../api/changes.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import type { Bundle, BundleDetail } from '../../api/shapes.js'
import { Age } from '../../parts/Age.js'
import { Amount } from '../../parts/Amount.js'
import { AsCodeButton } from '../../parts/AsCodeButton.js'
import { CsvButton } from '../../parts/CsvButton.js'
import { Empty } from '../../parts/Empty.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { clockOf, shortOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { Loaded } from '../../parts/Loaded.js'
import { Panel } from '../../parts/Panel.js'
import { Rows } from '../../parts/Rows.js'
import type { Column } from '../../parts/Table.js'
import { go, hrefOf } from '../../router.js'
import { Paged } from '../operations/Paged.js'
import { useList } from '../operations/useList.js'

const tones: Readonly<Record<Bundle['state'], string>> = {
  signed: '',
  included: 'good',
  reverted: 'bad',
  abandoned: 'doubt',
  cancelled: 'doubt',
}

function columnsOf(chainId: number): readonly Column<Bundle>[] {
  return [
    { name: 'State', cell: ({ state }) => <span class={`tag ${tones[state]}`}>{state}</span> },
    { name: 'Age', cell: ({ createdAt }) => <Age at={createdAt} /> },
    { name: 'Bundle', cell: ({ bundleId }) => <code>#{bundleId}</code> },
    { name: 'Kind', shown: 'wide', cell: ({ kind }) => kind },
    { name: 'Executor', shown: 'wide', cell: ({ executor }) => <code>{shortOf(executor)}</code> },
    { name: 'Nonce', shown: 'widest', isNumber: true, cell: ({ nonce }) => nonce },
    { name: 'Operations', shown: 'wide', isNumber: true, cell: ({ operations }) => operations },
    { name: 'Attempts', shown: 'wide', isNumber: true, cell: ({ attempts }) => attempts },
    {
      name: 'Cost',
      isNumber: true,
      cell: ({ cost }) => (cost === null ? '–' : <Amount chainId={chainId} wei={cost} />),
    },
  ]
}

type BundlesProps = { readonly chainId: number; readonly openId: string | undefined }

/** The transactions of the executors, and the open one. */
export function Bundles({ chainId, openId }: BundlesProps) {
  const keyOf = ({ bundleId }: Bundle) => bundleId
  const list = useList<Bundle>(`/chains/${chainId}/bundles`, {}, keyOf, () => openId !== undefined)
  useChanges(list.refresh, true)
  const hrefFor = ({ bundleId }: Bundle) => hrefOf(`bundler/${chainId}/${bundleId}`)
  return (
    <div class={openId === undefined ? 'split' : 'split is-open'}>
      <section class="card flush side-list" aria-label="Bundles">
        <div class="card-head">
          <h2>Bundles</h2>
          <CsvButton path={`/chains/${chainId}/bundles`} isPaged />
          <AsCodeButton title="Bundles" codes={[['curl', curl(`/chains/${chainId}/bundles`)]]} />
        </div>
        <Paged
          list={list}
          lines={4}
          empty={
            <Empty title="No transaction was sent yet">
              <p>
                The next operation is bundled within seconds. <a href={hrefOf('start')}>Send one</a>
              </p>
            </Empty>
          }
        >
          {(rows) => (
            <Rows
              label="Bundles"
              columns={columnsOf(chainId)}
              rows={rows}
              keyOf={keyOf}
              hrefOf={hrefFor}
              openKey={openId}
            />
          )}
        </Paged>
      </section>
      {openId !== undefined && (
        <aside class="panel" aria-label="Bundle">
          <BundlePanel key={openId} chainId={chainId} id={openId} />
        </aside>
      )}
    </div>
  )
}

function BundlePanel({ chainId, id }: { readonly chainId: number; readonly id: string }) {
  const path = `/chains/${chainId}/bundles/${id}`
  const query = useQuery<BundleDetail>(path)
  useChanges(query.refresh, query.data?.state === 'signed')
  return (
    <Panel
      name="Bundle"
      title={
        <>
          Bundle <code>#{id}</code>
        </>
      }
      codes={[['curl', curl(path)]]}
      onClose={() => go(hrefOf('bundler', { chain: String(chainId) }))}
    >
      <Loaded query={query} lines={6}>
        {(bundle) => (
          <>
            <Facts>
              <Fact name="State">
                <span class={`tag ${tones[bundle.state]}`}>{bundle.state}</span>
              </Fact>
              <Fact name="Executor">
                <Hex value={bundle.executor} what="the executor" />
              </Fact>
              <Fact name="Nonce">{bundle.nonce}</Fact>
              <Fact name="Cost">
                {bundle.cost === null ? (
                  'not mined'
                ) : (
                  <Amount chainId={chainId} wei={bundle.cost} />
                )}
              </Fact>
            </Facts>
            <section>
              <h3>Signed transactions</h3>
              <ol class="timeline">
                {bundle.transactions.map((each) => (
                  <li key={each.hash} class={each.hash === bundle.transactionHash ? 'good' : ''}>
                    <time dateTime={each.createdAt}>{clockOf(each.createdAt)}</time>
                    <div>
                      <Hex
                        value={each.hash}
                        what="the transaction hash"
                        chainId={chainId}
                        kind="tx"
                      />
                      <div class="muted">
                        at most {(Number(each.maxFeePerGas) / 1e9).toPrecision(3)} gwei, tip{' '}
                        {(Number(each.maxPriorityFeePerGas) / 1e9).toPrecision(3)} gwei
                        {each.noop && ', takes the bundle back'}
                      </div>
                    </div>
                  </li>
                ))}
              </ol>
            </section>
            <section>
              <h3>Operations</h3>
              <ul>
                {bundle.userOpHashes.map((hash) => (
                  <li key={hash}>
                    <a href={hrefOf(`operations/${chainId}/${hash}`)}>
                      <code>{shortOf(hash)}</code>
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          </>
        )}
      </Loaded>
    </Panel>
  )
}
