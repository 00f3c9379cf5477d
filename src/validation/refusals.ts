import type { Address, Hex } from 'viem'
import type { Failure } from '../entrypoint/entryPoint.js'
import { describeRevert } from '../entrypoint/revertReason.js'

/** The failure of an account that asks for a signature aggregator, which we do not serve. */
export function aggregated(aggregator: Address): Failure {
  return {
    index: 0,
    code: 'AA24',
    message: `AA24 signature error: signature aggregator ${aggregator} is not supported`,
    revertData: '0x',
  }
}

/** A failure without a reason: the EntryPoint gives none when an account or paymaster returns bad data. */
export function unexplained(revertData: Hex): Failure {
  const reason =
    describeRevert(revertData) ?? 'no reason given, malformed return data or out of gas'
  return { index: 0, code: undefined, message: `validation reverted: ${reason}`, revertData }
}

/** The way out for a sender from whom a token tank of ours could not take its charge. */
const TOKEN_ADVICE =
  '. Let a call of the operation approve the paymaster for the token, and have enough of it.'

/** A postOp that reverts: EntryPoint v0.6 refuses then, later ones undo the call of the account. */
export function postOpReverted(revertData: Hex): Failure {
  const reason = describeRevert(revertData) ?? 'no reason given'
  const advice = reason.startsWith('PaymentRefused(') ? TOKEN_ADVICE : ''
  return { index: 0, code: 'AA50', message: `AA50 postOp reverted: ${reason}${advice}`, revertData }
}
