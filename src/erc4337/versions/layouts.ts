import type { Address, Hex } from 'viem'
import { depositSlot } from '../encoding/storageLayout.js'
import type { CallLayout, StakeInfo } from '../entryPoint.js'

/** Byte position of the argument word with this number, behind a selector. */
function wordAt(index: number): number {
  return 4 + 32 * index
}

/** In innerHandleOp the offset of callData comes first, then 8 words of operation and its hash. */
export const callLayoutV06: CallLayout = {
  validateUserOp: '0x3a871cdd',
  validatePaymasterUserOp: '0xf465c77e',
  innerHandleOp: '0x1d732756',
  getUserOpHash: '0xa6193531',
  postOp: '0xa9a23409',
  executeUserOp: undefined,
  prefundAt: wordAt(10),
  preOpGasAt: wordAt(12),
  contextAt: wordAt(13),
}

/** v0.7 and later: 10 words of operation, two more for the paymaster's limits. */
export const callLayoutPacked: CallLayout = {
  validateUserOp: '0x19822f7c',
  validatePaymasterUserOp: '0x52b7512c',
  innerHandleOp: '0x0042dc53',
  getUserOpHash: '0x22cdde4c',
  postOp: '0x7c627b21',
  executeUserOp: '0x8dd7712f',
  prefundAt: wordAt(12),
  preOpGasAt: wordAt(14),
  contextAt: wordAt(15),
}

/*
 * `deposits[account]`, from the lowest bit. v0.6: deposit 112, staked 8, stake 112; in the second word
 * unstakeDelaySec 32, withdrawTime 48. v0.7 and later: deposit 256; in the second word staked 8, stake
 * 112, unstakeDelaySec 32, withdrawTime 48.
 */

const none: StakeInfo = { stake: 0n, unstakeDelay: 0n }

export function stakeSlotsV06(account: Address): Hex[] {
  const first = depositSlot(account)
  return [first, after(first)]
}

export function readStakeV06([first = 0n, second = 0n]: readonly bigint[]): StakeInfo {
  return bits(first, 112n, 8n) === 0n
    ? none
    : { stake: bits(first, 120n, 112n), unstakeDelay: bits(second, 0n, 32n) }
}

export function stakeSlotsPacked(account: Address): Hex[] {
  return [after(depositSlot(account))]
}

export function readStakePacked([word = 0n]: readonly bigint[]): StakeInfo {
  return bits(word, 0n, 8n) === 0n
    ? none
    : { stake: bits(word, 8n, 112n), unstakeDelay: bits(word, 120n, 32n) }
}

function bits(word: bigint, from: bigint, count: bigint): bigint {
  return (word >> from) & ((1n << count) - 1n)
}

function after(slot: Hex): Hex {
  return `0x${(BigInt(slot) + 1n).toString(16).padStart(64, '0')}`
}
