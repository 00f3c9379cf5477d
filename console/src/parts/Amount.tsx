import { etherOf, grouped } from './format.js'

/** Wei as ether; the exact wei are its title. `isMost`: it may cost less. */
export function Amount({
  wei,
  isMost = false,
}: {
  readonly wei: string
  readonly isMost?: boolean
}) {
  return (
    <span class="amount" title={`${isMost ? 'at most ' : ''}${grouped(wei)} wei`}>
      {isMost && '≤ '}
      {etherOf(wei)} <abbr title="ether">Ξ</abbr>
    </span>
  )
}
