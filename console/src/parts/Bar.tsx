import { grouped, percentOf } from './format.js'

type BarProps = {
  readonly name: string
  readonly used: bigint | undefined
  readonly limit: bigint
  /** An amount in words; absent = a number in groups. */
  textOf?(amount: bigint): string
}

/** How much of a limit was used. */
export function Bar({ name, used, limit, textOf = grouped }: BarProps) {
  const share = used === undefined ? undefined : percentOf(used, limit)
  return (
    <div class="bar">
      <span class="bar-name">{name}</span>
      <span class="bar-figures">
        {used === undefined ? textOf(limit) : `${textOf(used)} of ${textOf(limit)}`}
        {share !== undefined && <strong> {share.toFixed(0)} %</strong>}
      </span>
      {share !== undefined && (
        <meter min={0} max={100} value={share} aria-label={name}>
          {share} %
        </meter>
      )}
    </div>
  )
}
