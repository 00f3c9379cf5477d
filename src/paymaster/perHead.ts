import type { Hex } from 'viem'
import type { Head } from '../chain/head.js'

/** A memory of amounts as they were at a head: each is read once per head, however many ask. A failure is not kept. */
export function perHead() {
  let hash: Hex | undefined
  const known = new Map<string, Promise<bigint>>()
  return (head: Pick<Head, 'hash'>, name: string, read: () => Promise<bigint>): Promise<bigint> => {
    if (head.hash !== hash) {
      known.clear()
      hash = head.hash
    }
    const amount = known.get(name) ?? read()
    known.set(name, amount)
    amount.catch(() => {
      if (known.get(name) === amount) known.delete(name)
    })
    return amount
  }
}
