import type { ErrorCode } from '../errors/errorCodes.js'
import type { Remedy } from './explanation.js'

const READ_MESSAGE = 'The message says which part and why.'

/** The JSON-RPC errors, for those that have no code of their own beside the number. */
export const errorRemedies: Readonly<Record<ErrorCode, Remedy>> = {
  3: { culprit: 'app', steps: ['Decode the revert data in error.data.'] },
  [-32700]: { culprit: 'app', steps: ['Send valid JSON.'] },
  [-32600]: {
    culprit: 'app',
    steps: ['Send `jsonrpc`, `id`, `method` and `params`, within the limits.'],
  },
  [-32601]: {
    culprit: 'app',
    steps: ['See docs/api.md for the methods; names are case-sensitive.'],
  },
  [-32602]: {
    culprit: 'app',
    steps: [READ_MESSAGE, 'Send quantities as hex without leading zeros.'],
  },
  [-32603]: { culprit: 'operator', steps: ['Give the reference in the message to the operator.'] },
  [-32500]: { culprit: 'app', steps: [READ_MESSAGE] },
  [-32501]: { culprit: 'app', steps: [READ_MESSAGE, 'Ask for the sponsorship again.'] },
  [-32502]: { culprit: 'app', steps: [READ_MESSAGE] },
  [-32503]: { culprit: 'app', steps: ['Sign again with a later end.'] },
  [-32504]: { culprit: 'app', steps: ['Wait until the reputation of the entity has recovered.'] },
  [-32505]: {
    culprit: 'app',
    steps: ['Wait until pending operations of the entity are included.'],
  },
  [-32507]: {
    culprit: 'app',
    steps: ['Sign the operation as it is sent, for this chain and EntryPoint.'],
  },
  [-32508]: {
    culprit: 'app',
    steps: ['Deposit for the paymaster.', 'Wait until pending operations are included.'],
  },
  [-32521]: {
    culprit: 'app',
    steps: ['Decode the revert reason: it comes from the called contract.'],
  },
  [-32000]: { culprit: 'operator', steps: [READ_MESSAGE] },
  [-32001]: {
    culprit: 'app',
    steps: ['Use a key that exists and may call this method from this place.'],
  },
  [-32004]: { culprit: 'app', steps: ['Check the id and the app of the key.'] },
  [-32005]: {
    culprit: 'operator',
    steps: ['Try again after the seconds of retry-after.', READ_MESSAGE],
  },
  [-32006]: {
    culprit: 'app',
    steps: ['Take the fees that the service advises (biconomy_getGasFeeValues).'],
  },
  [-32007]: {
    culprit: 'app',
    steps: ['Take the fees that the service advises (biconomy_getGasFeeValues).'],
  },
}
