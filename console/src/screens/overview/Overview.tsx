import { useComputed } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { accountId, pathOf } from '../../api/call.js'
import { useChanges } from '../../api/changes.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import type { App, Chain, Need, OverviewAnswer, Page, Tank } from '../../api/shapes.js'
import { useKeys } from '../../keys.js'
import { AsCodeButton } from '../../parts/AsCodeButton.js'
import { now } from '../../parts/clock.js'
import { grouped } from '../../parts/format.js'
import { Options } from '../../parts/Options.js'
import { Skeleton } from '../../parts/Skeleton.js'
import { TroubleBanner } from '../../parts/TroubleBanner.js'
import { go, hrefOf, place, searchWith } from '../../router.js'
import { Attention } from './Attention.js'
import { Chains } from './Chains.js'
import { Charts } from './Charts.js'
import { Figures } from './Figures.js'
import { changed, type Period, periodOf, spans } from './period.js'
import { Runways } from './Runways.js'
import './overview.css'

const MINUTE = 60_000

/** The address of the overview of a period that was chosen. */
function hrefOfPeriod({ from, until }: Pick<Period, 'from' | 'until'>): string {
  const times = { from: from.toISOString(), until: until.toISOString() }
  return hrefOf('overview', searchWith({ ...times, last: undefined }))
}

/** What needs attention, what happened in a period, what is left in the tanks, and the chains. */
export function Overview() {
  const { search } = place.value
  // The clock moves each second, the period when a bar ends: each is of whole minutes.
  const minute = useComputed(() => Math.ceil(now.value / MINUTE) * MINUTE)
  const period = periodOf(search, minute.value)
  const appId = search.get('appId') ?? undefined
  const query = {
    from: period.from.toISOString(),
    until: period.until.toISOString(),
    step: String(period.step),
    appId,
  }
  const answer = useQuery<OverviewAnswer>('/overview', query)
  const before = useQuery<OverviewAnswer>('/overview', {
    ...query,
    from: new Date(2 * period.from.getTime() - period.until.getTime()).toISOString(),
    until: query.from,
  })
  const isOfAccount = accountId.value !== undefined
  const apps = useQuery<Page<App>>('/apps')
  const tanks = useQuery<Page<Tank>>(isOfAccount ? '/tanks' : undefined)
  const chains = useQuery<Page<Chain>>('/chains')
  const needs = useQuery<Page<Need>>('/attention')
  useChanges(() => {
    answer.refresh()
    chains.refresh()
    tanks.refresh()
    needs.refresh()
  }, true)
  // While the next period is on its way, the last one stays.
  const last = useRef<OverviewAnswer>(undefined)
  if (answer.data !== undefined) last.current = answer.data
  const shown = answer.data ?? last.current
  const move = (change: { by?: number; times?: number }) =>
    go(hrefOfPeriod(changed(period, change)))
  useKeys('Overview', {
    '[': ['an earlier time', () => move({ by: -0.5 })],
    ']': ['a later time', () => move({ by: 0.5 })],
    z: ['twice as long', () => move({ times: 2 })],
  })
  const names = new Map(apps.data?.items.map(({ id, name }) => [id, name]))
  // Hundreds of elements, which answers about tanks and chains do not concern.
  const charts = useMemo(
    () => shown && <Charts answer={shown} onZoom={(part) => go(hrefOfPeriod(part))} />,
    [shown, apps.data],
  )
  const isChosen = search.has('from')
  return (
    <div class="screen">
      <div class="row">
        <h1>Overview</h1>
        <span class="grow" />
        {names.size > 1 && (
          <select
            aria-label="App"
            value={appId ?? ''}
            onChange={(event) =>
              go(hrefOf('overview', searchWith({ appId: event.currentTarget.value })))
            }
          >
            <option value="">All apps</option>
            <Options of={[...names]} />
          </select>
        )}
        <nav class="spans" aria-label="Period">
          {spans.map(({ name }) => (
            <a
              key={name}
              href={hrefOf(
                'overview',
                searchWith({ last: name, from: undefined, until: undefined }),
              )}
              aria-current={
                !isChosen && name === (search.get('last') ?? spans[0].name) ? 'page' : undefined
              }
            >
              {name}
            </a>
          ))}
          {isChosen && (
            <button
              type="button"
              class="plain"
              title="Twice as long (z)"
              onClick={() => move({ times: 2 })}
            >
              Zoom out
            </button>
          )}
        </nav>
        <AsCodeButton
          title="This overview as code"
          codes={[
            ['curl', curl(pathOf('/overview', query))],
            [
              'metrics',
              `# the same for Prometheus, with the operator's token\ncurl -s '${new URL('../metrics', document.baseURI).href}' -H "authorization: Bearer $OPERATOR_TOKEN"`,
            ],
          ]}
        />
      </div>
      <TroubleBanner trouble={answer.trouble} onRetry={answer.refresh} />
      <Attention tanks={tanks} chains={chains} needs={needs} />
      {shown === undefined ? (
        answer.trouble === undefined && <Skeleton lines={8} />
      ) : (
        <>
          <Figures answer={shown} before={before.data} />
          {charts}
          {shown.totals.received === '0' && (
            <p class="muted">
              No operation was received in this period.{' '}
              <a href={hrefOf('start')}>Send a first one</a>, or look at a longer period.
            </p>
          )}
        </>
      )}
      <div class="overview-foot">
        {isOfAccount && <Runways tanks={tanks} chains={chains.data?.items ?? []} />}
        <Chains chains={chains} />
      </div>
      <p class="sr-only" role="status">
        {shown === undefined ? '' : `${grouped(shown.totals.received)} operations received`}
      </p>
    </div>
  )
}
