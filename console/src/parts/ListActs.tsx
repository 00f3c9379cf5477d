import { curl } from '../api/curl.js'
import { AsCodeButton } from './AsCodeButton.js'
import { CsvButton } from './CsvButton.js'

type ListActsProps = {
  /** The list of the API. */
  readonly path: string
  /** The heading of its codes. */
  readonly title: string
  /** The same by the command line, where there is a command. */
  readonly command?: string | undefined
}

/** How to have a list elsewhere: as a file, from the API, by a command. */
export function ListActs({ path, title, command }: ListActsProps) {
  const byCommand = command === undefined ? [] : [['command', command] as const]
  return (
    <>
      <CsvButton path={path} />
      <AsCodeButton title={title} codes={[['curl', curl(path)], ...byCommand]} />
    </>
  )
}
