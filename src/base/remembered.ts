/** A function that calls `make` once per object, which must not change; the result lives as long as it. */
export function remembered<Key extends object, Value>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return (key) => {
    const made = values.get(key)
    if (made !== undefined) return made
    const value = make(key)
    values.set(key, value)
    return value
  }
}
