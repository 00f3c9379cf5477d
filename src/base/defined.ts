type Defined<Source> = { [Name in keyof Source]: Exclude<Source[Name], undefined> }

/** The object without members that are undefined: an update keeps the fields that a request left out. */
export function defined<Source extends object>(source: Source): Defined<Source> {
  return Object.fromEntries(
    Object.entries(source).filter(([, value]) => value !== undefined),
  ) as Defined<Source>
}
