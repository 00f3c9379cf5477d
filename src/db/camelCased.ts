export type Camel<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text

type CamelCased<Row> = {
  readonly [Name in keyof Row & string as Camel<Name>]: Name extends 'chain_id' ? number : Row[Name]
}

/**
 * A row of the database with its columns named as answers name them: `user_op_hash` is `userOpHash`. What the contract of
 * an answer does not name is left out of it, so a row may have more columns than are shown.
 */
export function camelCased<Row extends object>(row: Row): CamelCased<Row> {
  const entries = Object.entries(row).map(([column, value]) => [
    column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    column === 'chain_id' ? Number(value) : value,
  ])
  return Object.fromEntries(entries) as CamelCased<Row>
}

/** The column of a member: `userOpHash` is `user_op_hash`. */
export function snakeCased(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
