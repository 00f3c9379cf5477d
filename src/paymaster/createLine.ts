/** Does pieces of work; those of one name one after the other. */
export type Line = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Lets work of one name wait for what came before it, whether that went well or not; other names do
 * not wait. For work that would only wait for a lock of the database otherwise, and hold a connection
 * meanwhile that others need.
 */
export const createLine = (): Line => {
  const last = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(
      () => work(),
      () => work(),
    )
    const leave = () => {
      if (last.get(name) === turn) last.delete(name)
    }
    last.set(name, turn)
    turn.then(leave, leave)
    return turn
  }
}
