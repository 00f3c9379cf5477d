import type { RequestCode } from '../errors/errorCodes.js'
import type { Remedy } from './explanation.js'

/** Refused requests whose JSON-RPC code alone does not tell what to do. */
export const requestRemedies: Readonly<Record<RequestCode, Remedy>> = {
  KEY_UNKNOWN: {
    culprit: 'app',
    steps: [
      'Compare the key with that of the app: a copied key often lacks its end.',
      'Make a new key with `purser key create`: a revoked or rotated one does not come back.',
      'Check the URL: /api/v3/CHAIN/KEY, or the key in `authorization: Bearer KEY` or `x-api-key`.',
    ],
  },
  KEY_RESTRICTED: {
    culprit: 'app',
    steps: ['Allow the origin, the address or the method for the key, or use another key.'],
  },
  CHAIN_NOT_SERVED: {
    culprit: 'app',
    steps: [
      'Put the id of a served chain into the URL: the message lists them.',
      'Compare the chain of the wallet or client with that of the URL.',
      'Ask the operator to add the chain, if it is meant.',
    ],
  },
  ENTRY_POINT_NOT_SERVED: {
    culprit: 'app',
    steps: [
      'Use an EntryPoint that the message lists, in the version for which the account is made.',
      'Compare the chain of the URL with that on which the EntryPoint is deployed.',
    ],
  },
  NODE_UNAVAILABLE: {
    culprit: 'operator',
    steps: [
      'Send the same request again after the seconds of retry-after: the signature stays good.',
      'Where it lasts, the operator looks at /admin/v1/chains/CHAIN/nodes, /health/ready and `purser check`.',
    ],
  },
  OVERLOADED: {
    culprit: 'operator',
    steps: ['Send the same request again after the seconds of retry-after.'],
  },
  POOL_FULL: {
    culprit: 'app',
    steps: [
      'Wait until pending operations are included, then send the same one again.',
      'Where the message names a price, sign again with fees that reach it.',
    ],
  },
  CANNOT_SIMULATE: {
    culprit: 'app',
    steps: [
      'Make the operation do less work, or use an account that validates with less.',
      'Where the message names the rules, the operator can allow such operations with "rules": "partial".',
    ],
  },
  PRE_VERIFICATION_GAS_TOO_LOW: {
    culprit: 'app',
    steps: [
      'Take preVerificationGas of eth_estimateUserOperationGas, or at least the number in the message, and sign again.',
      'Estimate with a signature and paymaster data as long as the final ones.',
    ],
  },
  REPLACEMENT_UNDERPRICED: {
    culprit: 'app',
    steps: [
      'Follow the pending operation, whose hash is in the message, if it does the same.',
      'To replace it, sign again with both fees at least as high as the message says.',
      'For an operation beside it, use the next nonce or another nonce key.',
    ],
  },
  ALREADY_BUNDLED: {
    culprit: 'app',
    steps: [
      'Wait for the receipt of the operation in the message; it can no longer be replaced.',
      'For an operation beside it, use the next nonce or another nonce key.',
    ],
  },
}
