import { CopyButton } from './Hex.js'

type CopyableProps = {
  readonly name: string
  readonly value: string | undefined
  /** What is copied, where its name does not say it. */
  readonly what?: string
  /** Stands there where there is no value. */
  readonly otherwise?: string
}

/** A value to copy with its name, in a list of the class `endpoints`. */
export function Copyable({ name, value, what = `the ${name}`, otherwise }: CopyableProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value === undefined ? (
          <span class="muted">{otherwise}</span>
        ) : (
          <>
            <code>{value}</code>
            <CopyButton text={value} what={what} />
          </>
        )}
      </dd>
    </div>
  )
}
