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
