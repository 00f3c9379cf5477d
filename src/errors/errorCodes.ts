/**
 * The JSON-RPC error codes that Purser answers, each with its meaning. ERC-7769 names those from
 * -32500 to -32508, JSON-RPC those from -32600 on; the others are customs of bundlers and nodes.
 */
export const errorCodes = {
  3: 'The call of a read reverts.',
  [-32700]: 'The body is not JSON.',
  [-32600]: 'The body is not a JSON-RPC request, is nested too deeply, or is too large.',
  [-32601]: 'There is no such method.',
  [-32602]: 'A parameter is missing, malformed or outside of what is allowed.',
  [-32603]: 'The service failed; the message holds a reference for the operator.',
  [-32500]: 'Account or factory failed validation, or the operation cannot be simulated.',
  [-32501]: 'The paymaster failed validation, or refuses to pay.',
  [-32502]: 'Validation breaks a rule of ERC-7562.',
  [-32503]: 'The operation is expired, expires too soon, or is not valid yet.',
  [-32504]: 'An entity of the operation is throttled or banned by its reputation.',
  [-32505]: 'An entity without stake has as many pending operations as it may.',
  [-32507]: "The account's or the paymaster's signature check failed.",
  [-32508]: "The paymaster's deposit does not cover its pending operations.",
  [-32521]: "The operation's call reverts.",
  [-32000]: 'A transaction that was sent for the caller failed, or the node refused a read.',
  [-32001]: 'The credential is unknown, or may not be used like this.',
  [-32004]: 'There is no such thing.',
  [-32005]: 'The service is busy, a limit is reached, or a part that it needs is away; try again.',
  [-32006]: 'maxPriorityFeePerGas is too low.',
  [-32007]: 'maxFeePerGas is too low.',
} as const

export type ErrorCode = keyof typeof errorCodes

/**
 * Codes of refused requests whose JSON-RPC code has other reasons too, each with its meaning. An error names
 * its code as `rule`, so that callers, records and `explain` tell the reasons apart.
 */
export const requestCodes = {
  KEY_UNKNOWN: 'The API key of the request is unknown or revoked.',
  KEY_RESTRICTED: 'The API key may not be used from this place, or not for this method.',
  CHAIN_NOT_SERVED: 'The service does not serve the chain that the URL names.',
  ENTRY_POINT_NOT_SERVED: 'The service does not serve this EntryPoint on this chain.',
  NODE_UNAVAILABLE:
    'The service has no usable node of the chain now. The operation was not judged, stored or sent.',
  OVERLOADED: 'The service admits as many operations as it can at this moment.',
  POOL_FULL: 'There is no room for the operation among the pending ones.',
  CANNOT_SIMULATE: 'The operation cannot be run in advance, so it cannot be judged.',
  PRE_VERIFICATION_GAS_TOO_LOW:
    'preVerificationGas does not pay for the share of its bundle that the operation causes.',
  REPLACEMENT_UNDERPRICED:
    'An operation of the same sender and nonce is pending, and the fees of this one are not 10 % higher.',
  ALREADY_BUNDLED: 'An operation of the same sender and nonce is in a signed bundle already.',
} as const

/** The code of a refused request, in `error.data.rule`. */
export type RequestCode = keyof typeof requestCodes
