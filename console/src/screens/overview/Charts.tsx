import { appName, pricedOf, usdOf } from '../../api/names.js'
import type { OverviewAnswer } from '../../api/shapes.js'
import { Chart, type Series } from '../../parts/Chart.js'
import { grouped, tidyOf, usdText } from '../../parts/format.js'
import { hrefOf } from '../../router.js'
import { refusalFilterOf } from '../operations/views.js'
import { unitOf } from '../spending/spending.js'
import { type Period, partOf } from './period.js'

type ChartsProps = {
  readonly answer: OverviewAnswer
  onZoom(part: Pick<Period, 'from' | 'until'>): void
}

/** Apps with a colour of their own; the others are drawn together. */
const COLOURS = 4
/** Codes that are listed. */
const CODES = 8

/** Operations by outcome and spend by app over time, and refusals by code. */
export function Charts({ answer, onZoom }: ChartsProps) {
  const { step } = answer
  const period = { from: new Date(answer.from), until: new Date(answer.until), step }
  const first = period.from.getTime()
  const count = Math.max(1, Math.ceil((period.until.getTime() - first) / 1_000 / step))
  const times = Array.from({ length: count }, (_, bar) => new Date(first + bar * step * 1_000))
  const barOf = (at: string) => Math.floor((Date.parse(at) - first) / 1_000 / step)
  const unit = unitOf(pricedOf(answer.spend))
  const isUsd = unit === 'USD'
  const zoom = (a: number, b: number) => onZoom(partOf(period, a, b))
  return (
    <div class="charts">
      <section class="card">
        <Chart
          title="Operations by outcome"
          series={outcomes(answer, count, barOf)}
          times={times}
          show={(value) => grouped(value)}
          onZoom={zoom}
        />
      </section>
      <section class="card">
        {unit === undefined ? (
          <>
            <h2>Spent by app</h2>
            <p class="muted">
              Several coins, not all with a price in USD, do not add up: see{' '}
              <a href={hrefOf('spending', { by: 'app' })}>the spending of the month</a>.
            </p>
          </>
        ) : (
          <Chart
            title={answer.spend.length === 0 ? 'Spent by app' : `Spent by app, ${unit}`}
            series={spending(answer, count, barOf, isUsd)}
            times={times}
            show={(value) => (isUsd ? usdText(value) : tidyOf(String(Math.round(value))))}
            onZoom={zoom}
          />
        )}
      </section>
      <section class="card">
        <h2>Refused, by code</h2>
        <Refusals refusals={answer.refusals} />
      </section>
    </div>
  )
}

function outcomes(
  { operations }: OverviewAnswer,
  count: number,
  barOf: (at: string) => number,
): Series[] {
  const valuesOf = (value: (bucket: OverviewAnswer['operations'][number]) => number) => {
    const values = new Array<number>(count).fill(0)
    for (const bucket of operations) values[barOf(bucket.at)] = value(bucket)
    return values
  }
  return [
    {
      name: 'Included',
      look: 'chart-good',
      values: valuesOf(({ included, reverted }) => Number(included) - Number(reverted)),
    },
    { name: 'Failed', look: 'chart-bad', values: valuesOf(({ reverted }) => Number(reverted)) },
    { name: 'Dropped', look: 'chart-doubt', values: valuesOf(({ dropped }) => Number(dropped)) },
    { name: 'Others', look: 'chart-quiet', values: valuesOf(({ others }) => Number(others)) },
  ]
}

function spending(
  { spend }: OverviewAnswer,
  count: number,
  barOf: (at: string) => number,
  isUsd: boolean,
): Series[] {
  const worthOf = ({ chainId, wei }: OverviewAnswer['spend'][number]) =>
    isUsd ? (usdOf(BigInt(wei), chainId) ?? 0) : Number(wei)
  const sums = new Map<string, number>()
  for (const each of spend) sums.set(each.appId, (sums.get(each.appId) ?? 0) + worthOf(each))
  const most = [...sums].sort(([, a], [, b]) => b - a).map(([id]) => id)
  const named = most.slice(0, COLOURS)
  const series = named.map((id, at) => ({
    name: appName(id),
    look: `chart-${at + 1}`,
    values: new Array<number>(count).fill(0),
  }))
  const others = { name: 'Others', look: 'chart-quiet', values: new Array<number>(count).fill(0) }
  for (const each of spend) {
    const { values } = series[named.indexOf(each.appId)] ?? others
    const bar = barOf(each.at)
    values[bar] = (values[bar] ?? 0) + worthOf(each)
  }
  return most.length > COLOURS ? [...series, others] : series
}

function Refusals({ refusals }: Pick<OverviewAnswer, 'refusals'>) {
  const most = Math.max(1, ...refusals.map(({ count }) => Number(count)))
  if (refusals.length === 0) return <p class="muted">Nothing was refused.</p>
  return (
    <ul class="codes">
      {refusals.slice(0, CODES).map(({ code, count }) => (
        <li key={code}>
          <a href={hrefOf('operations', { view: 'refused', [refusalFilterOf(code)]: code })}>
            <code>{code}</code>
          </a>
          <span>{grouped(count)}</span>
          <meter min={0} max={most} value={Number(count)} aria-label={code} />
        </li>
      ))}
    </ul>
  )
}
