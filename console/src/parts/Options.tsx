type OptionsProps<Value extends string | number> = {
  readonly of: readonly (readonly [value: Value, text: string])[]
  /** The one that is chosen at first, where the form keeps the choice. */
  readonly first?: Value
}

/** The options of a choice, each with its text. */
export function Options<Value extends string | number>({ of, first }: OptionsProps<Value>) {
  return of.map(([value, text]) => (
    <option key={value} value={value} selected={first === undefined ? undefined : value === first}>
      {text}
    </option>
  ))
}
