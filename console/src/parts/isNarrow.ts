import { signal } from '@preact/signals'

/** The width up to which the style sheets put the panel below a list, not next to it. */
const query = matchMedia('(max-width: 1100px)')

/** Whether the window is narrow, where what is drawn differs by more than a sheet can say. */
export const isNarrow = signal(query.matches)

query.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches
})
