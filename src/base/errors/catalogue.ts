/*
 * Every code with which Purser rejects, drops or explains: what it means, who can fix it, and what to do, the likeliest
 * first. OpenRPC, `purser explain`, the console and docs/build/errors.md come from these rows.
 */

/** Who can fix it: the person with the account, the app's developer, the operator, or the chain. */
type Culprit = 'user' | 'app' | 'operator' | 'chain'

export type CatalogueRow = {
  readonly meaning: string
  readonly culprit: Culprit
  /** What to do, the likeliest first. */
  readonly steps: readonly string[]
}

type Table = Readonly<Record<string, CatalogueRow>>

function app(meaning: string, ...steps: string[]): CatalogueRow {
  return { culprit: 'app', meaning, steps }
}

function user(meaning: string, ...steps: string[]): CatalogueRow {
  return { culprit: 'user', meaning, steps }
}

function operator(meaning: string, ...steps: string[]): CatalogueRow {
  return { culprit: 'operator', meaning, steps }
}

function chain(meaning: string, ...steps: string[]): CatalogueRow {
  return { culprit: 'chain', meaning, steps }
}

const ESTIMATE_AGAIN = 'Sign the limits of a new estimate.'
const OPERATORS_BUG = 'Report it to the operator.'
const READ_MESSAGE = 'The message has the reason.'
const EDIT_POLICY = 'Change the policy.'
const DEPOSIT = 'Deposit with `purser tank deposit`.'
const STAKE = 'If the message names a minimum, stake the entity.'
const RETRY = 'Send it again after `retry-after` seconds.'
/** The methods that answer with fees at which an operation is accepted: that of each SDK's dialect. */
export const TAKE_FEES =
  'Take the fees from pimlico_getUserOperationGasPrice or biconomy_getGasFeeValues.'
const OTHER_NONCE = 'For another operation, use the next nonce or another nonce key.'

/**
 * The JSON-RPC codes that Purser answers. ERC-7769 names those from -32500 to -32508, JSON-RPC those from
 * -32600 on; the others are customs of bundlers and nodes.
 */
export const errorCodes = {
  3: app('The call of a read reverts.', 'Decode the revert data in error.data.'),
  4: app(
    'The wait timed out; the operation is still in progress.',
    'Read its receipt by the hash in error.data, or repeat the request to keep waiting.',
  ),
  [-32700]: app('The body is not JSON.', 'Send valid JSON.'),
  [-32600]: app(
    'The body is not JSON-RPC, too deep or too large.',
    'Send `jsonrpc`, `id`, `method` and `params`, within the limits.',
  ),
  [-32601]: app(
    'There is no such method.',
    'Names are case-sensitive; docs/build/api.md lists them.',
  ),
  [-32602]: app(
    'A parameter is missing, malformed or out of range.',
    READ_MESSAGE,
    'Send quantities as hex without leading zeros.',
  ),
  [-32603]: operator('The service failed.', 'Give the reference in the message to the operator.'),
  [-32500]: app('Account or factory failed validation, or it cannot be simulated.', READ_MESSAGE),
  [-32501]: app(
    'The paymaster failed validation, or refuses to pay.',
    READ_MESSAGE,
    'Request the sponsorship again.',
  ),
  [-32502]: app('Validation breaks a rule of ERC-7562.', READ_MESSAGE),
  [-32503]: app(
    'The operation expired, expires too soon, or is not valid yet.',
    'Sign again with a later end.',
  ),
  [-32504]: app(
    'An entity of the operation is throttled or banned.',
    'Wait until its reputation recovers.',
  ),
  [-32505]: app(
    'An unstaked entity has reached its limit of pending operations.',
    'Wait until some are included.',
  ),
  [-32507]: app(
    "The account's or paymaster's signature check failed.",
    'Sign the operation exactly as sent, for this chain and EntryPoint.',
  ),
  [-32508]: app(
    "The paymaster's deposit does not cover its pending operations.",
    'Deposit more, or wait until some are included.',
  ),
  [-32521]: app(
    "The operation's call reverts.",
    'Decode the revert reason of the called contract.',
  ),
  [-32000]: operator(
    'What was sent for the caller failed, or the node rejected a read.',
    READ_MESSAGE,
  ),
  [-32001]: app(
    'The credential is unknown or not permitted here.',
    'Use a key that may call this method from this origin and address.',
  ),
  [-32004]: app('The object does not exist.', 'Check the id and the app of the key.'),
  [-32005]: operator(
    'A limit is reached, or the service or a dependency is unavailable.',
    RETRY,
    READ_MESSAGE,
  ),
  [-32006]: app('maxPriorityFeePerGas is too low.', TAKE_FEES),
  [-32007]: app('maxFeePerGas is too low.', TAKE_FEES),
} satisfies Table

export type ErrorCode = keyof typeof errorCodes

/**
 * Refused requests whose JSON-RPC code has other reasons too. An error names its code as `rule`, so that callers,
 * records and `explain` can distinguish the reasons.
 */
export const requestCodes = {
  KEY_UNKNOWN: app(
    'The API key is unknown or revoked.',
    'Compare it with the key of the app.',
    'Create a new one (`purser key create`).',
    'Check the URL /api/v3/CHAIN/KEY, or the header `authorization: Bearer KEY` or `x-api-key`.',
  ),
  KEY_RESTRICTED: app(
    'The API key may not be used from this origin or address, or for this method.',
    'Allow it, or use another key.',
  ),
  CHAIN_NOT_SERVED: app(
    'The chain in the URL is not served.',
    'Use a chain that the message lists, in URL and client.',
    'Otherwise ask the operator to add it.',
  ),
  ENTRY_POINT_NOT_SERVED: app(
    'This EntryPoint is not served on this chain.',
    'Use one that the message lists, of the version that the account is made for.',
    'Check the chain in the URL.',
  ),
  NODE_UNAVAILABLE: operator(
    'No node of the chain is usable. The operation was not stored.',
    'Send it again after `retry-after` seconds: the signature stays valid.',
    'If it persists: `purser check`, /health/ready.',
  ),
  OVERLOADED: operator('The service is overloaded.', RETRY),
  POOL_FULL: app(
    'The pool of pending operations is full.',
    'Send it again later.',
    'If the message names a fee, sign with at least that fee.',
  ),
  CANNOT_SIMULATE: app(
    'The operation cannot be simulated.',
    'Use an account with cheaper validation.',
    'If the message names the rules, the operator can allow it with "rules": "partial".',
  ),
  TRACE_REFUSED: operator(
    "The chain's node refused or aborted the trace of the operation. The operation was not stored.",
    'Send it again after `retry-after` seconds: the signature stays valid.',
    'If it persists, use an account with cheaper validation.',
    "The log has the node's reason, such as the time limit of its tracer.",
  ),
  PRE_VERIFICATION_GAS_TOO_LOW: app(
    "preVerificationGas does not cover the operation's share of the bundle.",
    'Sign with the preVerificationGas of an estimate, or at least the number in the message.',
    'Estimate with signature and paymaster data of the final length.',
  ),
  REPLACEMENT_UNDERPRICED: app(
    'An operation with this sender and nonce is pending, and the new fees are not 10 % higher.',
    'Wait for the one in the message.',
    'To replace it, sign with the fees in the message.',
    OTHER_NONCE,
  ),
  ALREADY_BUNDLED: app(
    'An operation with this sender and nonce is in a signed bundle.',
    'Wait for the receipt of the one in the message.',
    OTHER_NONCE,
  ),
} satisfies Table

/** The code of a refused request, in `error.data.rule`. */
export type RequestCode = keyof typeof requestCodes

/** Refused sponsorships. Every code is stable: it is stored with the decision, and clients branch on it. */
export const refusalCodes = {
  NO_TANK: app(
    'The app has no gas tank for this chain and EntryPoint, or its mode uses no paymaster.',
    'Create one: `purser tank create`, or *Tanks* in the console.',
  ),
  TANK_NOT_DEPLOYED: app(
    "The app's tank is not deployed yet.",
    'Fund the tank: the first deposit deploys it.',
  ),
  TANK_SIGNER_LOST: operator(
    "The master key does not decrypt the tank's signer key.",
    'Restore the master key that created it.',
    'If it is lost, withdraw the deposit as owner and run `purser tank replace`.',
  ),
  TANK_EMPTY: app(
    'The unreserved deposit of the tank does not cover the operation.',
    DEPOSIT,
    'Wait until sponsored operations end.',
  ),
  CREDIT_EMPTY: operator(
    "The app's credit does not cover the operation.",
    'Add credit: `purser tank credit`.',
  ),
  TOO_MUCH_UNSENT: app(
    'The sender, or all new senders, hold too many unused sponsorships.',
    'Send the sponsored operations, or wait until they expire.',
    'Request a sponsorship just before sending.',
  ),
  FEE_TOO_HIGH: app('The fees are higher than what may be sponsored.', TAKE_FEES),
  GAS_TOO_HIGH: app('The gas limits are higher than needed.', 'Use the limits of an estimate.'),
  GAS_TOO_LOW: app(
    'A gas limit of the committed operation is below its estimate.',
    'Estimate with the stub; let the account sign those limits.',
  ),
  COMMITMENT_CHANGED: app(
    'The operation differs from the committed one.',
    'Use the paymaster data of the stub with signingPhase "commit".',
  ),
  COMMITMENT_EXPIRED: app(
    "The committed operation's sponsorship expiry is out of range.",
    'Get a new stub and sign again.',
  ),
  WEBHOOK_DENIED: app(
    'A webhook of the app denied the sponsorship.',
    "The message has the webhook's reason.",
    'Compare `webhookData` with what the webhook expects.',
  ),
  WEBHOOK_FAILED: app(
    'A webhook of the app gave no valid answer.',
    'Read `webhookCalls` of the decision.',
    'For `timeout`: answer sooner, or raise `deadlineMs` (5,000 at most).',
    'For `circuit_open`: it failed repeatedly and is called again after ten seconds.',
    'Test it with `purser webhook test`; `onFailure: approve` sponsors while it is unavailable.',
  ),
  NO_ACTIVE_WEBHOOK: app(
    'The policy needs a webhook, and the app has no active one.',
    'Register or activate one.',
  ),
  NONCE_USED: app(
    'An operation with this sender and nonce was sponsored and included.',
    'Use the next nonce.',
  ),
  POLICY_UNKNOWN: app(
    'The app has no policy of that id or name.',
    'Use the id or name of one of its policies, or omit the policy id.',
    'Or name a policy as the id that your code sends.',
  ),
  POLICY_INACTIVE: app('The policy is inactive.', 'Activate the policy.'),
  POLICY_NOT_IN_FORCE: app('The policy has not started or has ended.', 'Change its start or end.'),
  CHAIN_NOT_COVERED: app('The policy does not cover the chain.', 'Add the chain to it.'),
  SENDER_NOT_ALLOWED: app(
    'The policy denies the sender or does not list it.',
    'Add the sender to it, or remove it from `denySenders`.',
  ),
  NOT_A_DEPLOYMENT: app(
    'The policy sponsors only deployments of accounts.',
    'Let the sender pay, or change the policy.',
  ),
  FACTORY_NOT_ALLOWED: app('The policy does not list the factory.', 'Add the factory to it.'),
  CALL_DATA_UNKNOWN: app(
    'The policy restricts calls, and these cannot be decoded.',
    'Use another account, or allow unknown call data.',
  ),
  DELEGATE_CALL_NOT_ALLOWED: app('The policy does not allow delegate calls.', EDIT_POLICY),
  NESTED_CALL_NOT_ALLOWED: app('The policy does not allow nested calls.', EDIT_POLICY),
  CALL_NOT_ALLOWED: app(
    'The policy does not allow a call of the operation.',
    'Add target and function to it; the message names them.',
  ),
  PRICE_UNAVAILABLE: operator(
    'A budget in USD needs a price that is unavailable.',
    'Configure `nativePrices` or `usdPrice`, or fix the price source.',
  ),
  BUDGET_EXCEEDED: app(
    'A budget of the policy does not cover the operation.',
    'Wait until its window ends, as the message says.',
    'Raise its limit.',
    'Send the operation without a paymaster.',
  ),
} satisfies Table

export type RefusalCode = keyof typeof refusalCodes

/** A refused sponsorship: data, not an error. `message` holds the numbers and says what to do. */
export type Refusal = { readonly code: RefusalCode; readonly message: string }

/** Refused payments in tokens (TokenPaymentError). */
export const tokenRefusalCodes = {
  NO_TOKEN_TANK: operator(
    'There is no token tank (ERC-20 paymaster) for this EntryPoint.',
    'Create one: `purser tank create --kind token`.',
  ),
  TOKEN_TANK_EMPTY: operator(
    'The deposit of the token tank does not cover the operation.',
    DEPOSIT,
  ),
  TOKEN_BALANCE_TOO_LOW: user(
    'The sender has too few tokens.',
    'Get more of the token, or pay another way.',
  ),
  TOKEN_ALLOWANCE_TOO_LOW: app(
    "The sender's allowance for the token tank is too low.",
    'Approve the tank in the calls, or send a permit.',
  ),
  TOKEN_NOT_EXACT: operator(
    'A transfer of the token does not move the exact amount.',
    'Remove the token: it takes a fee on transfer or rebases.',
  ),
  TOKEN_EXPOSURE_REACHED: operator(
    "Open quotes in this token reached the operator's limit.",
    'Raise `maxExposure`, or wait until quotes expire.',
  ),
  SENDER_DEFAULTED: user(
    'An earlier operation of the sender did not pay its charge.',
    'Pay in the native coin, or approve the tank first.',
  ),
  ADVANCE_REACHED: user(
    'Operations that pay afterwards have reached their limit.',
    'Approve the tank first.',
    'Wait until open operations are included.',
  ),
  CHARGE_FAILS: user(
    'In simulation, too few tokens were left for the charge.',
    'Leave enough tokens for the gas after the call.',
  ),
  TERMS_REFUSED: app(
    'Fees or limits are far higher than needed.',
    'Use fees and limits of an estimate.',
  ),
} satisfies Table

export type TokenRefusalCode = keyof typeof tokenRefusalCodes

/** Codes of our own with which an operation leaves the pool without being included. */
export const dropCodes = {
  REPLACED: app(
    'One with the same sender and nonce and higher fees replaced it.',
    'Wait for the replacement.',
  ),
  EVICTED: app(
    'The pool was full and another operation bid more.',
    'Send it again later or with higher fees.',
  ),
  PREDECESSOR_DROPPED: app(
    'The operation with the preceding nonce was dropped.',
    'Send that one again, then this one.',
  ),
  EXPIRED: app(
    'Its validity ended, or ends too soon to be mined.',
    'Sign again with a later end, or request a longer sponsorship.',
  ),
  WAITED_TOO_LONG: app(
    'It waited for `maxPoolAge` and no bundle included it.',
    'Send it again with current fees.',
  ),
  TOO_COSTLY: app(
    'Validated again before its bundle, it exceeded the work limit.',
    'Use cheaper validation.',
  ),
  REVERTED: app('handleOps reverts with this operation alone, without a code.', 'Simulate it.'),
  BUNDLE_FAILED: app(
    'Bundles with it failed on the chain too often.',
    'Simulate it: something that it reads changes before the block.',
  ),
  BUNDLE_NOT_SHARED: app(
    'Its preVerificationGas pays for a share of a larger bundle, and too few other operations arrived.',
    'Send it with the preVerificationGas of a new estimate.',
  ),
  STALE_AUTHORIZATION: app(
    'The nonce of its EIP-7702 authorization is used.',
    "Sign the authorization again with the account's current nonce.",
  ),
  CHARGE_FAILS: user(
    'Validated again before its bundle, it left too few tokens for its gas.',
    'Leave enough tokens for the gas after the call.',
  ),
  CANCELLED: operator(
    'The operator or the owner of the app cancelled it.',
    'Ask why, then send it again.',
  ),
  CLEARED: operator('The pool was cleared by a debug method.', 'Send it again.'),
  CHAIN_RESET: chain('The development chain restarted after it was included.', 'Send it again.'),
} satisfies Table

/** What happened to operations that are pending, or were included. */
export const historyCodes = {
  RETURNED: operator(
    'Its bundle was not mined. It waits for the next one.',
    'Wait. Do not send it with another nonce.',
  ),
  SUSPECTED: app(
    'Its bundle failed on the chain, perhaps because of it. It is tried again, then dropped.',
    'Wait: it is retried automatically.',
    'Simulate it: something that it reads may change before the block.',
  ),
  REORGED: chain(
    'A reorg removed its block; its earlier receipt is void.',
    'Wait: it is sent again automatically.',
    'Read the receipt again.',
    'Before an irreversible action, wait until the block is final.',
  ),
  CALL_REVERTED: app(
    'It was included and its call reverted: gas is paid, the nonce is used.',
    'Fix what the reason of the called contract names.',
    'Without one it most likely ran out of gas: use the `callGasLimit` of a new estimate.',
    'Then sign a new operation with the next nonce.',
  ),
} satisfies Table

export type HistoryCode = keyof typeof historyCodes

/** The codes of the EntryPoints v0.6 to v0.9, by what their contracts revert with. */
export const entryPointCodes = {
  AA10: app(
    'The account is already deployed.',
    'Send it without factory and factoryData (v0.6: initCode).',
  ),
  AA13: app(
    'The factory, or the delegate of an EIP-7702 account, failed or ran out of gas.',
    'Simulate the factory call alone.',
    'Raise verificationGasLimit, which pays for the deployment.',
  ),
  AA14: app(
    'The factory deployed another address than the sender.',
    'Compute the sender from the owners and salt in factoryData.',
  ),
  AA15: app(
    'The factory ran and the sender still has no code.',
    'Check the factory address and the function in factoryData.',
  ),
  AA20: app(
    'The account is not deployed.',
    'Send factory and factoryData.',
    'Check the chain in the URL.',
    "For EIP-7702, send eip7702Auth with the account's current nonce.",
  ),
  AA21: user(
    "The sender's balance and deposit do not cover the maximum cost.",
    'Fund the account, or deposit for it in the EntryPoint.',
    'Or request a sponsorship before signing.',
  ),
  AA22: app(
    "The account's signature is outside its time range.",
    'Sign again with a later end.',
    "Compare the signer's clock with the chain's.",
  ),
  AA23: app(
    "The account's validation reverted or ran out of gas.",
    'The reason after the code comes from the account.',
    `Without a reason it ran out of gas. ${ESTIMATE_AGAIN}`,
  ),
  AA24: app(
    "The account does not accept the operation's signature.",
    'Sign last: later changes of paymaster or limits change the hash.',
    'Sign for this chain id and EntryPoint.',
    "Use an owner key and the account's signature format.",
  ),
  AA25: app(
    'The nonce is used, or ahead of the next one of its key.',
    'Read the next nonce from the EntryPoint: getNonce(sender, key).',
    'Wait for the preceding operation, or use another nonce key.',
  ),
  AA26: app('Validation needs more gas than verificationGasLimit.', ESTIMATE_AGAIN),
  AA27: app(
    "The account's signature is outside its block range.",
    'Sign again with a later last block.',
  ),
  AA30: app('There is no code at the paymaster.', 'Check its address and the chain.'),
  AA31: app(
    "The paymaster's deposit does not cover the maximum cost.",
    'Fund it; for a tank with `purser tank deposit`.',
  ),
  AA32: app(
    "The paymaster's signature is outside its time range.",
    'Request it just before signing, or with a longer expiryDuration.',
  ),
  AA33: app(
    "The paymaster's validation reverted or ran out of gas.",
    'The reason after the code comes from the paymaster.',
    "With tokens, check the sender's balance and allowance.",
    'Without a reason, raise paymasterVerificationGasLimit (v0.6: verificationGasLimit).',
  ),
  AA34: app(
    "The paymaster's signature does not match the operation.",
    'Send exactly what was sponsored, with all fields of the response.',
  ),
  AA36: app(
    "The paymaster's validation needs more gas than paymasterVerificationGasLimit.",
    'Use the limit of the sponsorship response.',
  ),
  AA37: app(
    "The paymaster's signature is outside its block range.",
    'Request the sponsorship again.',
  ),
  AA40: app('Validation used more gas than verificationGasLimit (v0.6).', ESTIMATE_AGAIN),
  AA41: app(
    "verificationGasLimit leaves no gas for the paymaster's validation (v0.6).",
    ESTIMATE_AGAIN,
  ),
  AA50: app(
    "The paymaster's postOp reverted.",
    "Read the decoded reason; often the sender's call spent the tokens.",
  ),
  AA51: app('The operation cost more than its prefund.', ESTIMATE_AGAIN),
  AA90: operator('A bundle named no beneficiary.', OPERATORS_BUG),
  AA91: operator(
    'The beneficiary of a bundle refused the fees.',
    'Configure a beneficiary that accepts the native coin.',
  ),
  AA92: app('Only the EntryPoint may call this function.', 'Do not call innerHandleOp.'),
  AA93: app(
    'The paymaster fields are too short.',
    'Send address, limits and data, or no paymaster.',
  ),
  AA94: app('A gas limit or fee is too large for the EntryPoint.', ESTIMATE_AGAIN),
  AA95: operator('A bundle was sent with too little gas.', OPERATORS_BUG),
  AA96: operator('A bundle named an invalid aggregator.', OPERATORS_BUG),
  AA97: app(
    'The SenderCreator was not called by its EntryPoint.',
    'Send factory and factoryData instead of calling it.',
  ),
  AA98: app(
    "The paymaster's address is zero and it has data.",
    'Omit all paymaster fields, or send an address.',
  ),
  AA99: app('The factory fields are too short for an address.', 'Send the whole factory address.'),
} satisfies Table

/**
 * The rules of ERC-7562 by the family of their identifiers. The message of a rejection names the entity, the opcode or
 * slot and the contract.
 */
export const ruleFamilies = {
  OP: app(
    'The result of an opcode, call or creation could differ in the bundle.',
    'Read time, block and gas in the execution phase instead.',
    'Use contracts that comply with ERC-7562; docs/understand/validation.md lists each rule.',
  ),
  STO: app(
    'Validation uses storage that others can change before the bundle.',
    "Use the account's own storage, or slots that belong to its address.",
    STAKE,
  ),
  COD: app(
    'Code used by validation changed between two validations.',
    'Send it again once the upgrade is mined.',
  ),
  AUTH: app(
    'An EIP-7702 account is not the sender, or two delegates compete.',
    'In validation, do not call delegated accounts of others.',
  ),
  EREP: app(
    'An entity does what only staked ones may, or its gas or context differed from validation.',
    STAKE,
    'Let the paymaster return no context, or always the same.',
  ),
  SREP: app(
    'A staked entity broke a rule for which its stake is liable.',
    'Use another entity until its reputation recovers.',
  ),
  GREP: app(
    'An entity is throttled or banned: its operations failed after admission.',
    'Wait: counts decay by 1/24 an hour.',
    'Find out why its operations were dropped, and fix that first.',
  ),
  UREP: app(
    'An unstaked entity has as many pending operations as it may.',
    'Wait until some are included.',
    STAKE,
  ),
  LIM: app(
    'A field or limit exceeds what bundlers accept.',
    'Stay within the number in the message.',
    'Use the limits of an estimate.',
  ),
} satisfies Table
