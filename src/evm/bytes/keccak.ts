import { createKeccak } from 'hash-wasm'

/** One hasher for the whole process: creating it is asynchronous, using it is not. */
const hasher = await createKeccak(256)

/** keccak256 of `data`: 32 bytes. */
export function keccak(data: Uint8Array): Uint8Array {
  return hasher.init().update(data).digest('binary')
}
