import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { accountId, isReached } from '../../api/call.js'
import { isStreaming } from '../../api/changes.js'
import { useQuery } from '../../api/query.js'
import type { App, Chain, Decision, Operation, Page, Refusal } from '../../api/shapes.js'
import { AsCodeButton } from '../../parts/AsCodeButton.js'
import { CsvButton } from '../../parts/CsvButton.js'
import { Tabs } from '../../parts/Tabs.js'
import { go, hrefOf, place, searchWith } from '../../router.js'
import { listCode } from './asCodeTexts.js'
import { decisionColumns, operationColumns, refusalColumns } from './columns.js'
import { DecisionPanel } from './DecisionPanel.js'
import { Filters } from './Filters.js'
import { ListScreen } from './ListScreen.js'
import { OperationPanel } from './OperationPanel.js'
import { RangeChoice } from './RangeChoice.js'
import { RefusalPanel } from './RefusalPanel.js'
import { useCounts } from './useCounts.js'
import { beginOf, queryOf, viewOf, views } from './views.js'

/** Operations and rejected requests: a list by outcome, and the open one. */
export function Operations() {
  const { path, search } = place.value
  const [list = '', ...rest] = path.split('/')
  const view = viewOf(search.get('view'), list)
  const openPath = rest.length === 0 ? undefined : path
  const isLive = useSignal(true)
  const apps = useQuery<Page<App>>('/apps')
  const chains = useQuery<Page<Chain>>('/chains')
  const hrefOfView = (name: string) => hrefOf('operations', searchWith({ view: name }))
  const close = () => go(hrefOf('operations', searchWith({})))
  const toggleLive = () => {
    isLive.value = !isLive.value
  }
  const range = search.get('range')
  const from = useMemo(() => beginOf(range, Date.now()), [range, view])
  const counts = useCounts(range, search)
  const appId = search.get('appId')
  const live = (accountId.value === undefined ? undefined : apps.data)?.items
    .filter(({ revokedAt }) => revokedAt === null)
    .map(({ id }) => id)
  const streamed = view.list !== 'operations' ? [] : appId === null ? (live ?? []) : [appId]
  const shared = {
    view,
    openPath,
    from,
    streamed,
    isLive: isLive.value,
    onToggleLive: toggleLive,
  }
  return (
    <div class={openPath === undefined ? 'split' : 'split is-open'}>
      <section class="side-list">
        <div class="row">
          <h1>Operations</h1>
          <button
            type="button"
            class={isLive.value ? (isReached.value ? 'live is-on' : 'live is-behind') : 'live'}
            aria-pressed={isLive.value}
            title={
              isStreaming.value
                ? 'Changes come by themselves (.)'
                : 'Looks for changes every two seconds (.)'
            }
            onClick={toggleLive}
          >
            <span class="dot" aria-hidden="true" />
            {isLive.value ? (isReached.value ? 'Live' : 'Behind') : 'Paused'}
          </button>
          <span class="grow" />
          <RangeChoice range={range} />
          <CsvButton path={`/${view.list}`} query={queryOf(view, search, from)} isPaged />
          <AsCodeButton
            title={`${view.name} as code`}
            codes={listCode(view.list, queryOf(view, search, from))}
          />
        </div>
        <Tabs
          label="Outcome"
          tabs={views.map((each) => ({
            name: each.name,
            count: counts[each.view],
            href: hrefOfView(each.view),
            isHere: each === view,
          }))}
        />
        <Filters view={view} apps={apps.data?.items ?? []} chains={chains.data?.items ?? []} />
        {view.list === 'operations' && (
          <ListScreen<Operation>
            key={view.view}
            {...shared}
            columns={operationColumns}
            pathOf={({ chainId, userOpHash }) => `operations/${chainId}/${userOpHash}`}
            nameOf={({ userOpHash }) => userOpHash}
          />
        )}
        {view.list === 'refusals' && (
          <ListScreen<Refusal>
            key={view.view}
            {...shared}
            columns={refusalColumns}
            pathOf={({ refusalId }) => `refusals/${refusalId}`}
            nameOf={({ refusalId }) => refusalId}
          />
        )}
        {view.list === 'decisions' && (
          <ListScreen<Decision>
            key={view.view}
            {...shared}
            columns={decisionColumns}
            pathOf={({ decisionId }) => `decisions/${decisionId}`}
            nameOf={({ decisionId }) => decisionId}
          />
        )}
      </section>
      {openPath !== undefined && (
        <aside class="panel" aria-label="Details">
          {list === 'operations' && (
            <OperationPanel
              key={path}
              chainId={Number(rest[0])}
              hash={rest[1] ?? ''}
              onClose={close}
            />
          )}
          {list === 'refusals' && <RefusalPanel key={path} id={rest[0] ?? ''} onClose={close} />}
          {list === 'decisions' && <DecisionPanel key={path} id={rest[0] ?? ''} onClose={close} />}
        </aside>
      )}
    </div>
  )
}
