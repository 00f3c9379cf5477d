import type { Address, Hash } from 'viem'

/** The address of no account: 20 bytes of zero. */
export const zeroAddress: Address = `0x${'0'.repeat(40)}`

/** 32 bytes of zero. */
export const zeroHash: Hash = `0x${'0'.repeat(64)}`

/** The greatest number that a word holds. */
export const MAX_UINT256 = 2n ** 256n - 1n
