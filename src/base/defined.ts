type Defined<Given> = { [Name in keyof Given]: Exclude<Given[Name], undefined> }

/** Without the members that are undefined: what a request left out stays as it is. */
export function defined<Given extends object>(given: Given): Defined<Given> {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as Defined<Given>
}
