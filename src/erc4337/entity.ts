import type { Address, Hex } from 'viem'
import { malformed } from './encoding/abiReader.js'

/** A factory or paymaster with the bytes meant for it. */
export type EntityAndData = { readonly entity: Address | undefined; readonly data: Hex }

/** Splits `initCode`, or the `paymasterAndData` of v0.6: empty, or 20 bytes of address and data. */
export function splitEntity(bytes: Hex): EntityAndData {
  if (bytes === '0x') return { entity: undefined, data: '0x' }
  if (bytes.length < 42) return malformed()
  return { entity: `0x${bytes.slice(2, 42)}`, data: `0x${bytes.slice(42)}` }
}

/** The reverse of `splitEntity`, as hex digits. */
export function joinEntity(entity: Address | undefined, data: Hex): string {
  return entity === undefined ? '' : entity.slice(2) + data.slice(2)
}
