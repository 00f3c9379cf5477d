/** A map whose entries weigh at most `capacity` together; the one that was not used for longest leaves first. */
export class Lru<Key, Value extends NonNullable<unknown>> {
  readonly #entries = new Map<Key, Value>()
  readonly #capacity: number
  readonly #weigh: (value: Value) => number
  #weight = 0

  /** @param weigh by default each entry weighs 1 */
  constructor(capacity: number, weigh: (value: Value) => number = () => 1) {
    this.#capacity = capacity
    this.#weigh = weigh
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: Key, value: Value): void {
    this.delete(key)
    this.#entries.set(key, value)
    this.#weight += this.#weigh(value)
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#capacity) break
      this.delete(oldest)
    }
  }

  delete(key: Key): void {
    const value = this.#entries.get(key)
    if (value === undefined) return
    this.#entries.delete(key)
    this.#weight -= this.#weigh(value)
  }

  /** Drops the entries of which `isStale` holds. */
  drop(isStale: (value: Value) => boolean): void {
    for (const [key, value] of this.#entries) if (isStale(value)) this.delete(key)
  }
}
