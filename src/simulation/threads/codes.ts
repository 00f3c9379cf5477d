import { Lru } from '../../base/lru.js'
import { remembered } from '../../base/remembered.js'

/** Codes that a thread keeps: 18 MB of the largest, and their jump targets as much again. */
const MOST_CODES = 256

/** Code by number; its bytes where the receiver does not have them. */
export type SentCode = { readonly id: number; readonly bytes: Uint8Array | undefined }
export type CodeSender = (code: Uint8Array) => SentCode
export type CodeReceiver = (sent: SentCode) => Uint8Array

const counter = { last: 0 }
const numberOf = remembered((_: Uint8Array) => ++counter.last)

/**
 * Sends code to one other thread, once as long as that keeps it. Sender and receiver forget the
 * same codes, as both see the same codes in the same order. Code is known by its array, see `State`.
 */
export function createCodeSender(): CodeSender {
  const sent = new Lru<number, true>(MOST_CODES)
  return (code) => {
    const id = numberOf(code)
    const isKnown = sent.get(id) === true
    if (!isKnown) sent.set(id, true)
    return { id, bytes: isKnown ? undefined : code }
  }
}

/** The other end of a sender: the same array for the same code each time. */
export function createCodeReceiver(): CodeReceiver {
  const known = new Lru<number, Uint8Array>(MOST_CODES)
  return ({ id, bytes }) => {
    const code = known.get(id) ?? bytes
    if (code === undefined) throw new Error(`code ${id} was never sent`)
    if (bytes !== undefined) known.set(id, bytes)
    return code
  }
}
