/** Part of a list, newest first. `next` is the cursor of the following page; undefined = there is none. */
export type Page<Item> = { readonly items: readonly Item[]; readonly next: string | undefined }

export type PageQuery = {
  readonly limit: number
  /** The `next` of the page before. */
  readonly before: string | undefined
}

/** A page from `limit + 1` rows; `cursorOf` names the place of a row. */
export function toPage<Item>(
  rows: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => string,
): Page<Item> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? cursorOf(last) : undefined }
}
