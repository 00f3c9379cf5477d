import type { App, Chain } from '../../api/shapes.js'
import { FilterChip, FilterForm } from '../../parts/Filter.js'
import { Options } from '../../parts/Options.js'
import { go, hrefOf, place, searchWith } from '../../router.js'
import { type FilterName, filterNames, filterOf, filtersOf, type View } from './views.js'

type FiltersProps = {
  readonly view: View
  readonly apps: readonly App[]
  readonly chains: readonly Chain[]
}

/** The filters of a list, which stand in the address: chips to take away, and a form that adds one. */
export function Filters({ view, apps, chains }: FiltersProps) {
  const { path, search } = place.value
  const names = filtersOf[view.list]
  const active = names.filter((name) => search.get(name))
  const set = (name: FilterName, value: string | undefined) =>
    go(hrefOf(path === '' ? 'operations' : path, searchWith({ [name]: value })))
  const shown = (name: FilterName, value: string) =>
    name === 'appId' ? (apps.find(({ id }) => id === value)?.name ?? value) : value
  const words = names.slice(2).map((name) => filterNames[name].toLowerCase())
  return (
    <div class="filters">
      {active.map((name) => (
        <FilterChip
          key={name}
          name={filterNames[name]}
          value={shown(name, search.get(name) ?? '')}
          onRemove={() => set(name, undefined)}
        />
      ))}
      {!active.includes('appId') && apps.length > 1 && (
        <Choice
          name="App"
          options={apps.map(({ id, name }) => [id, name])}
          onChoose={(value) => set('appId', value)}
        />
      )}
      {!active.includes('chainId') && chains.length > 1 && (
        <Choice
          name="Chain"
          options={chains.map(({ chainId }) => [String(chainId), String(chainId)])}
          onChoose={(value) => set('chainId', value)}
        />
      )}
      <FilterForm
        label={`Filter by ${words.join(' or ')}`}
        placeholder={`+ filter: ${words.join(', ')}`}
        onAdd={(text) => set(...filterOf(text, names))}
      />
    </div>
  )
}

type ChoiceProps = {
  readonly name: string
  readonly options: readonly (readonly [value: string, text: string])[]
  onChoose(value: string): void
}

function Choice({ name, options, onChoose }: ChoiceProps) {
  return (
    <select
      aria-label={`Filter by ${name.toLowerCase()}`}
      value=""
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      <option value="">+ {name}</option>
      <Options of={options} />
    </select>
  )
}
