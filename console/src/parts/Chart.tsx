import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { tickOf } from './format.js'

/** One kind of what is counted: its name, its look, and a value for each bar. */
export type Series = {
  readonly name: string
  /** A class of the sheet: `chart-good`, `chart-1`. */
  readonly look: string
  readonly values: readonly number[]
}

type ChartProps = {
  readonly title: string
  readonly series: readonly Series[]
  /** The beginning of each bar. */
  readonly times: readonly Date[]
  /** How a value is written. */
  show(value: number): string
  /** The look at a part of the width was asked for, by drawing over it: two shares from 0 to 1. */
  onZoom(from: number, until: number): void
}

/** Pixels below which drawing over the chart was a click. */
const CLICK = 5

/**
 * Bars over time, one kind above the other. The values of the bar under the pointer stand in the legend, and all of them
 * in a table, whose times zoom for those who use no pointer.
 */
export function Chart({ title, series, times, show, onZoom }: ChartProps) {
  const area = useRef<HTMLDivElement>(null)
  const at = useSignal<number | undefined>(undefined)
  const isTable = useSignal(false)
  const start = useSignal<number | undefined>(undefined)
  const shareOf = (event: PointerEvent): number => {
    const { left = 0, width = 1 } = area.current?.getBoundingClientRect() ?? {}
    return Math.min(1, Math.max(0, (event.clientX - left) / width))
  }
  const count = times.length
  const isOfDays = Number(times[count - 1]) - Number(times[0]) >= DAY
  const tick = (bar: number) => {
    const time = times[bar]
    return time === undefined ? '' : tickOf(time, isOfDays)
  }
  const sums = times.map((_, bar) => sumOf(series, bar))
  const top = Math.max(0, ...sums)
  const shown =
    at.value === undefined ? undefined : Math.min(count - 1, Math.floor(at.value * count))
  const end = (event: PointerEvent): void => {
    const from = start.value
    start.value = undefined
    if (from === undefined) return
    const until = shareOf(event)
    const width = area.current?.getBoundingClientRect().width ?? 0
    if (Math.abs(until - from) * width > CLICK) onZoom(from, until)
  }
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="muted">{shown === undefined ? '' : tick(shown)}</span>
        <ul>
          {series.map(({ name, look, values }) => (
            <li key={name}>
              <span class={`swatch ${look}`} aria-hidden="true" /> {name}{' '}
              <strong>
                {show(
                  shown === undefined
                    ? values.reduce((sum, each) => sum + each, 0)
                    : (values[shown] ?? 0),
                )}
              </strong>
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        class="chart-area"
        ref={area}
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          start.value = shareOf(event)
        }}
        onPointerMove={(event) => {
          at.value = shareOf(event)
        }}
        onPointerUp={end}
        onPointerCancel={() => {
          start.value = undefined
        }}
        onPointerLeave={() => {
          at.value = undefined
        }}
      >
        <span class="chart-top">{top === 0 ? '' : show(top)}</span>
        <svg viewBox={`0 0 ${count} 100`} preserveAspectRatio="none" role="img" aria-label={title}>
          {top > 0 &&
            times.map((time, bar) =>
              sums[bar] === 0 ? null : (
                <Bar key={time.getTime()} bar={bar} series={series} top={top} />
              ),
            )}
          {start.value !== undefined && at.value !== undefined && (
            <rect
              class="chart-drawn"
              x={Math.min(start.value, at.value) * count}
              width={Math.abs(at.value - start.value) * count}
              y={0}
              height={100}
            />
          )}
        </svg>
      </div>
      <p class="chart-times muted" aria-hidden="true">
        <span>{tick(0)}</span>
        <span>{tick(Math.floor(count / 2))}</span>
        <span>{tick(count - 1)}</span>
      </p>
      <details
        onToggle={(event) => {
          isTable.value = event.currentTarget.open
        }}
      >
        <summary>As a table</summary>
        {isTable.value && (
          <div class="chart-table">
            <table>
              <thead>
                <tr>
                  <th scope="col">From</th>
                  {series.map(({ name }) => (
                    <th key={name} scope="col" class="number">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {times.map((time, bar) =>
                  sums[bar] === 0 ? null : (
                    <tr key={time.getTime()}>
                      <td>
                        <button
                          type="button"
                          class="plain"
                          title="Look at this part"
                          onClick={() => onZoom(bar / count, (bar + 1) / count)}
                        >
                          {tick(bar)}
                        </button>
                      </td>
                      {series.map(({ name, values }) => (
                        <td key={name} class="number">
                          {show(values[bar] ?? 0)}
                        </td>
                      ))}
                    </tr>
                  ),
                )}
              </tbody>
            </table>
          </div>
        )}
      </details>
    </figure>
  )
}

function Bar({ bar, series, top }: { bar: number; series: readonly Series[]; top: number }) {
  let below = 100
  return (
    <g>
      {series.map(({ name, look, values }) => {
        const height = ((values[bar] ?? 0) / top) * 100
        below -= height
        return height === 0 ? null : (
          <rect key={name} class={look} x={bar + 0.1} width={0.8} y={below} height={height} />
        )
      })}
    </g>
  )
}

function sumOf(series: readonly Series[], bar: number): number {
  return series.reduce((sum, { values }) => sum + (values[bar] ?? 0), 0)
}

/** Below this time between its ends a chart needs no days. */
const DAY = 86_400_000
