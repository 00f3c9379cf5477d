import type { IncomingMessage } from 'node:http'
import { InvalidRequestError, PayloadTooLargeError } from '../errors/requestErrors.js'

/**
 * The whole body of a request, also of a GET, which fetch-style requests do not give.
 * Throws PayloadTooLargeError before more than `limit` bytes are kept.
 */
export function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => new PayloadTooLargeError('The request body in bytes', limit)
    if (Number(incoming.headers['content-length']) > limit) return reject(tooLarge())
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else settle(() => reject(tooLarge()))
    }
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks)))
    const onBroken = (): void =>
      settle(() =>
        reject(new InvalidRequestError('the connection closed before the body was complete.')),
      )
    const settle = (answer: () => void): void => {
      incoming.off('data', onData).off('end', onEnd).off('close', onBroken)
      answer()
    }
    // The error listener stays: a reset after the answer must not become an unhandled event.
    incoming.on('error', onBroken)
    incoming.on('data', onData).on('end', onEnd).on('close', onBroken)
  })
}
