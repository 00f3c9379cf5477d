import type { Address, Hex } from 'viem'
import { depositSlot } from '../../encoding/storageLayout.js'
import type { StakeInfo } from '../entryPoint.js'

/*
 * `deposits[account]`, from the lowest bit. v0.6: deposit 112, staked 8, stake 112; in the second word
 * unstakeDelaySec 32, withdrawTime 48. v0.7 and later: deposit 256; in the second word staked 8, stake
 * 112, unstakeDelaySec 32, withdrawTime 48.
 */

const none: StakeInfo = { stake: 0n, unstakeDelay: 0n }

export const stakeSlotsV06 = (account: Address): Hex[] => {
  const first = depositSlot(account)
  return [first, after(first)]
}

export const readStakeV06 = ([first = 0n, second = 0n]: readonly bigint[]): StakeInfo =>
  bits(first, 112n, 8n) === 0n
    ? none
    : { stake: bits(first, 120n, 112n), unstakeDelay: bits(second, 0n, 32n) }

export const stakeSlotsPacked = (account: Address): Hex[] => [after(depositSlot(account))]

export const readStakePacked = ([word = 0n]: readonly bigint[]): StakeInfo =>
  bits(word, 0n, 8n) === 0n
    ? none
    : { stake: bits(word, 8n, 112n), unstakeDelay: bits(word, 120n, 32n) }

const bits = (word: bigint, from: bigint, count: bigint): bigint =>
  (word >> from) & ((1n << count) - 1n)

const after = (slot: Hex): Hex => `0x${(BigInt(slot) + 1n).toString(16).padStart(64, '0')}`
