import type { HistoryCode } from '../store/dropCode.js'
import type { Remedy } from './explanation.js'

/** What happened to operations that are still on their way, or were included. */
export const historyRemedies: Readonly<Record<HistoryCode, Remedy>> = {
  RETURNED: {
    culprit: 'operator',
    steps: ['Do nothing: it is bundled again. Do not send it with another nonce.'],
  },
  SUSPECTED: {
    culprit: 'app',
    steps: [
      'Wait: it is tried again by itself.',
      'Simulate it (POST /admin/v1/apps/APP/simulate): something that it reads may change between validation and block.',
    ],
  },
  REORGED: {
    culprit: 'chain',
    steps: [
      'Do nothing to the operation: it is included again, or dropped with a code of its own.',
      'Read the receipt again before you act on it: block and transaction can be others.',
      'For what cannot be taken back, wait until the block of the receipt is final.',
    ],
  },
  CALL_REVERTED: {
    culprit: 'app',
    steps: [
      'Read the reason in the timeline (`revert`): it comes from the called contract.',
      'Without a reason the call ran out of gas: take callGasLimit of a new estimate.',
      'Mend the cause, then sign a new operation with the next nonce: this one cannot be sent again (AA25).',
      'Estimate just before sending: the call worked then, or was not estimated.',
    ],
  },
}
