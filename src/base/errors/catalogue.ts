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

const ESTIMATE_AGAIN = 'Ask eth_estimateUserOperationGas again and sign with its limits.'
const OPERATORS_BUG = 'The bundler made this call: report it to the operator.'
const READ_MESSAGE = 'The message says which part and why.'
const EDIT_POLICY = 'Change the policy if the operation should be sponsored.'
const DEPOSIT = 'Deposit with `purser tank deposit`.'
const STAKE = 'Stake the entity in the EntryPoint where the message names a minimum.'
const RETRY = 'Send the same request again after the seconds in retry-after.'
const TAKE_FEES = 'Use the fees that the service suggests (biconomy_getGasFeeValues).'
const OTHER_NONCE = 'For another operation, use the next nonce or another nonce key.'

/**
 * The JSON-RPC codes that Purser answers. ERC-7769 names those from -32500 to -32508, JSON-RPC those from
 * -32600 on; the others are customs of bundlers and nodes.
 */
export const errorCodes = {
  3: app('The call of a read reverts.', 'Decode the revert data in error.data.'),
  4: app(
    'The wait timed out before the operation reached the requested state. It stays in progress.',
    'Ask for its receipt with the hash in error.data, or send the same request again to keep waiting.',
  ),
  [-32700]: app('The body is not JSON.', 'Send valid JSON.'),
  [-32600]: app(
    'The body is not a JSON-RPC request, is nested too deeply, or is too large.',
    'Send `jsonrpc`, `id`, `method` and `params`, within the limits.',
  ),
  [-32601]: app(
    'There is no such method.',
    'See docs/build/api.md for the methods; names are case-sensitive.',
  ),
  [-32602]: app(
    'A parameter is missing, malformed or out of range.',
    READ_MESSAGE,
    'Send quantities as hex without leading zeros.',
  ),
  [-32603]: operator(
    'The service failed; the message holds a reference for the operator.',
    'Give the reference in the message to the operator.',
  ),
  [-32500]: app(
    'Account or factory failed validation, or the operation cannot be simulated.',
    READ_MESSAGE,
  ),
  [-32501]: app(
    'The paymaster failed validation, or refuses to pay.',
    READ_MESSAGE,
    'Ask for the sponsorship again.',
  ),
  [-32502]: app('Validation breaks a rule of ERC-7562.', READ_MESSAGE),
  [-32503]: app(
    'The operation is expired, expires too soon, or is not valid yet.',
    'Sign again with a later end.',
  ),
  [-32504]: app(
    'An entity of the operation is throttled or banned by its reputation.',
    'Wait until the reputation of the entity has recovered.',
  ),
  [-32505]: app(
    'An unstaked entity has reached its limit of pending operations.',
    'Wait until pending operations of the entity are included.',
  ),
  [-32507]: app(
    "The account's or the paymaster's signature check failed.",
    'Sign the operation as it is sent, for this chain and EntryPoint.',
  ),
  [-32508]: app(
    "The paymaster's deposit does not cover its pending operations.",
    'Deposit for the paymaster.',
    'Wait until pending operations are included.',
  ),
  [-32521]: app(
    "The operation's call reverts.",
    'Decode the revert reason: it comes from the called contract.',
  ),
  [-32000]: operator(
    'A transaction or operation that was sent for the caller failed, or the node refused a read.',
    READ_MESSAGE,
  ),
  [-32001]: app(
    'The credential is unknown, or not permitted here.',
    'Use an existing key that may call this method from this origin or address.',
  ),
  [-32004]: app('The object does not exist.', 'Check the id and the app of the key.'),
  [-32005]: operator(
    'The service is busy, a limit is reached, or something it depends on is unavailable. Try again.',
    'Try again after the seconds in retry-after.',
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
    'The API key of the request is unknown or revoked.',
    'Compare the key with that of the app: a copied key is often cut off.',
    'Create a new key with `purser key create`: a revoked or rotated key cannot be restored.',
    'Check the URL: /api/v3/CHAIN/KEY, or the key in `authorization: Bearer KEY` or `x-api-key`.',
  ),
  KEY_RESTRICTED: app(
    'The API key may not be used from this origin or address, or for this method.',
    'Allow the origin, the address or the method for the key, or use another key.',
  ),
  CHAIN_NOT_SERVED: app(
    'The service does not serve the chain that the URL names.',
    'Put the id of a served chain into the URL: the message lists them.',
    'Compare the chain of the wallet or client with the one in the URL.',
    'Otherwise ask the operator to add the chain.',
  ),
  ENTRY_POINT_NOT_SERVED: app(
    'The service does not serve this EntryPoint on this chain.',
    'Use an EntryPoint that the message lists, in the version for which the account is made.',
    'Compare the chain of the URL with that on which the EntryPoint is deployed.',
  ),
  NODE_UNAVAILABLE: operator(
    'The service has no usable node for the chain right now. The operation was not validated, stored or sent.',
    'Send the same request again after the seconds in retry-after: the signature stays valid.',
    'If it persists, the operator checks /admin/v1/chains/CHAIN/nodes, /health/ready and `purser check`.',
  ),
  OVERLOADED: operator('The service is admitting as many operations as it can right now.', RETRY),
  POOL_FULL: app(
    'The pool of pending operations is full.',
    'Wait until pending operations are included, then send the same one again.',
    'If the message names a fee, sign again with at least that fee.',
  ),
  CANNOT_SIMULATE: app(
    'The operation cannot be simulated, so it cannot be validated.',
    'Make the operation do less work, or use an account with cheaper validation.',
    'If the message names the rules, the operator can allow such operations with "rules": "partial".',
  ),
  PRE_VERIFICATION_GAS_TOO_LOW: app(
    "preVerificationGas does not cover the operation's share of the bundle's overhead.",
    'Use preVerificationGas from eth_estimateUserOperationGas, or at least the number in the message, and sign again.',
    'Estimate with a signature and paymaster data as long as the final ones.',
  ),
  REPLACEMENT_UNDERPRICED: app(
    'An operation with the same sender and nonce is pending, and the fees of this one are not 10 % higher.',
    'If the pending operation does the same, wait for it: its hash is in the message.',
    'To replace it, sign again with both fees at least as high as the message says.',
    OTHER_NONCE,
  ),
  ALREADY_BUNDLED: app(
    'An operation with the same sender and nonce is already in a signed bundle.',
    'Wait for the receipt of the operation named in the message: it can no longer be replaced.',
    OTHER_NONCE,
  ),
} satisfies Table

/** The code of a refused request, in `error.data.rule`. */
export type RequestCode = keyof typeof requestCodes

/** Refused sponsorships. Every code is stable: it is stored with the decision, and clients branch on it. */
export const refusalCodes = {
  NO_TANK: app(
    'The app has no gas tank for this chain and EntryPoint, or its mode uses no paymaster.',
    "Create a tank for the app, chain and EntryPoint: `purser tank create`, or the console's Tanks page.",
  ),
  TANK_NOT_DEPLOYED: app(
    "The app's tank is not deployed on the chain yet.",
    'Fund the tank: the first deposit deploys it.',
  ),
  TANK_SIGNER_LOST: operator(
    "The operator's master key does not decrypt the key of the tank's signer.",
    'Restore the master key with which the tank was created.',
    'Without it, withdraw the deposit as its owner and create a new tank: `purser tank replace`.',
  ),
  TANK_EMPTY: app(
    'The deposit of the tank does not cover the operation on top of what is reserved.',
    DEPOSIT,
    'Wait until sponsored operations are included or expire.',
  ),
  CREDIT_EMPTY: operator(
    'The credit of the app does not cover the operation.',
    'Add credit for the app: `purser tank credit`.',
  ),
  TOO_MUCH_UNSENT: app(
    'The sender, or all new senders of the app together, hold too many unused sponsorships.',
    'Send the operations that are already sponsored, or wait until their sponsorships expire.',
    'Ask for a sponsorship just before you send the operation.',
  ),
  FEE_TOO_HIGH: app(
    "The operation's fees are higher than what may be sponsored.",
    'Use the fees that the service suggests.',
  ),
  GAS_TOO_HIGH: app(
    'The operation asks for more gas than it needs.',
    'Use the gas limits of an estimate.',
  ),
  GAS_TOO_LOW: app(
    'A gas limit of a committed operation, which the account has signed, is below its estimate.',
    'Estimate with the stub, and let the account sign those limits.',
  ),
  COMMITMENT_CHANGED: app(
    'The operation differs from the one that was committed.',
    'Use the paymaster data of the stub with signingPhase "commit".',
  ),
  COMMITMENT_EXPIRED: app(
    "The committed operation's sponsorship expiry is out of range.",
    'Ask for a new stub, and let the account sign again.',
  ),
  WEBHOOK_DENIED: app(
    'A webhook of the app denied the sponsorship.',
    "Read the reason in the message: it comes from the webhook's service.",
    'Compare the `webhookData` of the request with what that service expects.',
  ),
  WEBHOOK_FAILED: app(
    'A webhook of the app gave no valid answer.',
    'Read `webhookCalls` of the decision: each call has its outcome, HTTP status, time and reason.',
    'For `timeout`: answer sooner, or raise `deadlineMs` of the webhook (5,000 at most).',
    'For `circuit_open`: it failed five times in a row and is called again after ten seconds. Fix it first.',
    'Try it with POST /admin/v1/apps/APP/webhooks/WEBHOOK/test; `onFailure: approve` sponsors while it is unavailable.',
  ),
  NO_ACTIVE_WEBHOOK: app(
    'The policy needs the approval of a webhook, and the app has no active one.',
    'Register a webhook, or activate one.',
  ),
  NONCE_USED: app(
    'An operation with this sender and nonce was already sponsored and included.',
    'Use the next nonce of the account.',
  ),
  POLICY_UNKNOWN: app(
    'The request names a policy that the app does not have.',
    'Use the id or the name of a policy of the app, or leave the policy id out.',
    'Coming from another provider, give a policy the id that your code sends as its name.',
  ),
  POLICY_INACTIVE: app('The policy is inactive.', 'Activate the policy.'),
  POLICY_NOT_IN_FORCE: app(
    'The policy has not started yet or has ended.',
    "Change the policy's start or end.",
  ),
  CHAIN_NOT_COVERED: app('The policy does not cover the chain.', 'Add the chain to the policy.'),
  SENDER_NOT_ALLOWED: app(
    'The policy denies the sender, or does not list it.',
    'Add the sender to the policy, or remove it from the denied senders.',
  ),
  NOT_A_DEPLOYMENT: app(
    'The policy sponsors only operations that deploy their account.',
    'Let the sender pay, or change the policy.',
  ),
  FACTORY_NOT_ALLOWED: app(
    "The operation's factory is not in the policy's list.",
    'Add the factory to the policy.',
  ),
  CALL_DATA_UNKNOWN: app(
    "The policy restricts calls, and the operation's calls cannot be decoded.",
    'Use an account whose calls can be decoded, or allow unknown call data.',
    EDIT_POLICY,
  ),
  DELEGATE_CALL_NOT_ALLOWED: app('The policy does not allow delegate calls.', EDIT_POLICY),
  NESTED_CALL_NOT_ALLOWED: app('The policy does not allow calls within calls.', EDIT_POLICY),
  CALL_NOT_ALLOWED: app(
    'The policy does not allow a call of the operation.',
    'Add target and function to the policy; the message names them.',
  ),
  PRICE_UNAVAILABLE: operator(
    'A budget in USD needs a price that is currently unavailable.',
    'Configure a price of the native coin (nativePrices), or fix its source.',
  ),
  BUDGET_EXCEEDED: app(
    'A budget of the policy does not cover the operation.',
    "Wait until the budget's window ends, which the message names; a rolling window frees its amount gradually.",
    'Raise the limit in the policy if the operation should be sponsored.',
    'Let the sender pay: fund the account and send the operation without a paymaster.',
  ),
} satisfies Table

export type RefusalCode = keyof typeof refusalCodes

/** A refused sponsorship: data, not an error. `message` holds the numbers and says what to do. */
export type Refusal = { readonly code: RefusalCode; readonly message: string }

/** Refused payments in tokens (TokenPaymentError). */
export const tokenRefusalCodes = {
  NO_TOKEN_TANK: operator(
    'There is no ERC-20 paymaster (token tank) for this EntryPoint.',
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
    "Approve the tank in the operation's calls, or send a permit.",
  ),
  TOKEN_NOT_EXACT: operator(
    'A transfer of the token does not move the exact amount.',
    'Remove the token from the configuration: it takes a fee on transfer or rebases.',
  ),
  TOKEN_EXPOSURE_REACHED: operator(
    "The open quotes in this token have reached the operator's limit.",
    'Raise the limit of open quotes, or wait until some expire.',
  ),
  SENDER_STRUCK: user(
    'An earlier operation of the sender did not pay its token charge.',
    'Pay in the native coin, or approve the tank before the operation.',
  ),
  ADVANCE_REACHED: user(
    'The limit of gas that tanks advance before they receive tokens is reached.',
    'Approve the tank first, so that it can take the tokens before the operation.',
    'Wait until open operations are included.',
  ),
  CHARGE_FAILS: user(
    'In simulation, the operation did not leave enough tokens for the charge.',
    'Leave enough tokens in the account to pay for the gas after the call.',
  ),
  TERMS_REFUSED: app(
    'Fees or limits are far higher than needed.',
    'Use the fees and limits of an estimate.',
  ),
} satisfies Table

export type TokenRefusalCode = keyof typeof tokenRefusalCodes

/** Codes of our own with which an operation leaves the pool without being included. */
export const dropCodes = {
  REPLACED: app(
    'An operation with the same sender and nonce and higher fees replaced it.',
    'Wait for the operation that replaced it.',
  ),
  EVICTED: app(
    'The pool was full and another operation offered a higher fee.',
    'Send it again with higher fees, or later.',
  ),
  PREDECESSOR_DROPPED: app(
    'The operation with the preceding nonce was dropped, and it must be sent again first.',
    'Send the operation with the preceding nonce again, then this one.',
  ),
  EXPIRED: app(
    'Its validity ended, or ends too soon for it to be mined safely.',
    'Sign it again with a later end, or ask for a longer sponsorship.',
  ),
  WAITED_TOO_LONG: app(
    'It waited longer than operations may and no bundle included it.',
    'Send it again with the fees that the service suggests now.',
  ),
  TOO_COSTLY: app(
    'Validated again before its bundle, it exceeded the work limit of an operation.',
    'Make its validation do less work.',
  ),
  REVERTED: app(
    'handleOps reverts with this operation alone, and the EntryPoint gives no code.',
    'Simulate it: the EntryPoint reverts without a reason.',
  ),
  BUNDLE_FAILED: app(
    'Bundles with it failed on the chain too often.',
    'Simulate it: it passes in simulation and fails on the chain, so something it reads changes.',
  ),
  BUNDLE_NOT_SHARED: app(
    'Its preVerificationGas pays only for a share of a larger bundle, and too few other operations arrived.',
    'Send it again with preVerificationGas from a new estimate.',
  ),
  STALE_AUTHORIZATION: app(
    "Its EIP-7702 authorization can no longer apply: the sender's account has used that nonce.",
    'Sign the authorization again with the nonce that the account has now.',
  ),
  CHARGE_FAILS: user(
    'Validated again before its bundle, it left too few tokens for its gas.',
    'Leave enough tokens in the account to pay for the gas after the call.',
  ),
  CANCELLED: operator(
    'The operator or the owner of the app cancelled it.',
    'Ask the operator who cancelled it why, and send it again.',
  ),
  CLEARED: operator('The pool was cleared by a debug method.', 'Send it again.'),
  CHAIN_RESET: chain(
    'The development chain started again after it was included.',
    'Send it again: the development chain started again.',
  ),
} satisfies Table

/** What happened to operations that are pending, or were included. */
export const historyCodes = {
  RETURNED: operator(
    'Its bundle was not mined, through no fault of the operation. It waits for another bundle.',
    'Do nothing: it is bundled again. Do not send it with another nonce.',
  ),
  SUSPECTED: app(
    'Its bundle failed on the chain, and the operation may be the reason. It is tried in another bundle, and dropped if that fails too.',
    'Wait: it is retried automatically.',
    'Simulate it: something that it reads may change between validation and block.',
  ),
  REORGED: chain(
    'A reorg removed the block that included it. The operation is sent again automatically, and its earlier receipt is void.',
    'Do nothing to the operation: it is included again, or dropped with a code of its own.',
    'Read the receipt again before you act on it: block and transaction can change.',
    "Before an irreversible action, wait until the receipt's block is final.",
  ),
  CALL_REVERTED: app(
    'It was included and its call reverted: the gas is paid, the nonce is used, and the call had no other effect.',
    'A reason comes from the called contract: fix what it names.',
    'Without a reason the call most likely ran out of gas: take the `callGasLimit` of a new estimate.',
    'Fix the cause, then sign a new operation with the next nonce: this one cannot be sent again (AA25).',
    'Estimate just before sending: the call worked then, or was not estimated.',
  ),
} satisfies Table

export type HistoryCode = keyof typeof historyCodes

/** The codes of the EntryPoints v0.6 to v0.9, by what their contracts revert with. */
export const entryPointCodes = {
  AA10: app(
    'The account is already deployed, and the operation would deploy it again.',
    'Send the operation without factory and factoryData (v0.6: without initCode).',
  ),
  AA13: app(
    'The factory failed or ran out of gas, or the delegate of an EIP-7702 account did.',
    'Simulate the factory call alone; its revert says what it misses.',
    `Raise verificationGasLimit, which pays for the deployment. ${ESTIMATE_AGAIN}`,
  ),
  AA14: app(
    'The factory deployed another address than the sender.',
    'Compute the sender from the same owners and salt that factoryData holds.',
  ),
  AA15: app(
    'The factory ran and the sender still has no code.',
    'Check the factory address and the function that factoryData calls.',
  ),
  AA20: app(
    'The account is not deployed, and the operation does not deploy it.',
    'Send factory and factoryData with the first operation of an account.',
    'Check that the operation goes to the chain on which the account was deployed.',
    'For an EIP-7702 account, send eip7702Auth with the nonce that the account has now.',
  ),
  AA21: user(
    "The sender's balance and deposit do not cover the maximum cost of the operation.",
    'Fund the account, or deposit for it in the EntryPoint.',
    'Ask for a sponsorship before the account signs (pm_getPaymasterData, pm_sponsorUserOperation).',
  ),
  AA22: app(
    "The account's validation is outside of its time range.",
    'Sign again with a later end.',
    "Compare the signer's clock with the chain's.",
  ),
  AA23: app(
    "The account's validation reverted or ran out of gas.",
    'Read the decoded reason behind the code: it comes from the account.',
    `Without a reason it ran out of gas. ${ESTIMATE_AGAIN}`,
  ),
  AA24: app(
    "The account does not accept the operation's signature.",
    'Sign last: a paymaster or gas limits that are set later change the hash.',
    'Sign for this chain id, this EntryPoint and this EntryPoint version.',
    "Sign with an owner key of the account, in the account's signature format.",
  ),
  AA25: app(
    'The nonce is already used, or is ahead of the next one of its key.',
    'Read the next nonce from the EntryPoint: getNonce(sender, key).',
    'Wait for the preceding operation, or use another nonce key for operations that need no order.',
  ),
  AA26: app('Validation needs more gas than verificationGasLimit.', ESTIMATE_AGAIN),
  AA27: app(
    "The account's validation is outside of its range of block numbers.",
    'Sign again with a later last block.',
  ),
  AA30: app(
    'There is no code at the paymaster.',
    'Check the address of the paymaster and the chain.',
  ),
  AA31: app(
    "The paymaster's deposit does not cover the maximum cost of the operation.",
    'Fund the paymaster; for a tank use `purser tank deposit`.',
  ),
  AA32: app(
    "The paymaster's signature is outside of its time range.",
    'Ask for the sponsorship just before the account signs, or for a longer validity (expiryDuration).',
  ),
  AA33: app(
    "The paymaster's validation reverted or ran out of gas.",
    'Read the decoded reason behind the code: it comes from the paymaster.',
    'For payment in tokens, check balance and allowance of the sender.',
    'Raise paymasterVerificationGasLimit (v0.6: verificationGasLimit) where there is no reason.',
  ),
  AA34: app(
    "The paymaster's signature does not match the operation.",
    'Send exactly what was sponsored: changed limits or fees invalidate the signature.',
    'Use all fields of the sponsorship answer, including the gas limits.',
  ),
  AA36: app(
    "The paymaster's validation needs more gas than paymasterVerificationGasLimit.",
    'Use paymasterVerificationGasLimit from the sponsorship answer.',
  ),
  AA37: app(
    "The paymaster's signature is outside of its range of block numbers.",
    'Ask for the sponsorship again.',
  ),
  AA40: app('Validation used more gas than verificationGasLimit (v0.6).', ESTIMATE_AGAIN),
  AA41: app(
    "verificationGasLimit leaves no gas for the paymaster's validation (v0.6).",
    ESTIMATE_AGAIN,
  ),
  AA50: app(
    "The paymaster's postOp reverted.",
    "Read the decoded reason: it comes from the paymaster, often a token that the sender's call spent.",
  ),
  AA51: app(
    'The operation cost more than its prefund.',
    `Raise the gas limits: the prefund follows from them. ${ESTIMATE_AGAIN}`,
  ),
  AA90: operator('A bundle named no beneficiary.', OPERATORS_BUG),
  AA91: operator(
    'The beneficiary of a bundle refused the fees.',
    'Configure a beneficiary that accepts the native coin, such as an account without code.',
  ),
  AA92: app(
    'A function of the EntryPoint was called that only the EntryPoint may call.',
    'Do not call innerHandleOp in an operation.',
  ),
  AA93: app(
    "The paymaster's fields cannot be read: they are too short.",
    'Send the address of the paymaster with its limits and data, or no paymaster at all.',
  ),
  AA94: app('A gas limit or fee is too large for the EntryPoint.', ESTIMATE_AGAIN),
  AA95: operator('A bundle was sent with too little gas.', OPERATORS_BUG),
  AA96: operator('A bundle named an invalid aggregator.', OPERATORS_BUG),
  AA97: app(
    'The SenderCreator was not called by its EntryPoint.',
    'Do not call the SenderCreator; send factory and factoryData.',
  ),
  AA98: app(
    "The paymaster's address is zero, and it has data.",
    'Leave out all fields of the paymaster, or name one.',
  ),
  AA99: app(
    'The factory fields are too short to hold an address.',
    'Send the whole address of the factory.',
  ),
} satisfies Table

/**
 * The rules of ERC-7562 by the family of their identifiers. The message of a rejection names the entity, the opcode or
 * slot and the contract.
 */
export const ruleFamilies = {
  OP: app(
    'Validation uses an opcode, a call or a creation whose result could differ in the bundle.',
    'Do not use that opcode in validation: read time, block and gas in the execution phase instead.',
    'Use an account, factory or paymaster that complies with ERC-7562; docs/understand/validation.md lists each rule.',
  ),
  STO: app(
    'Validation reads or writes storage that others can change before the bundle.',
    "Keep what validation needs in the account's own storage, or in slots that belong to its address.",
    STAKE,
  ),
  COD: app(
    'Code that validation visits changed between two validations.',
    'Send the operation again once the upgrade is mined.',
  ),
  AUTH: app(
    'Validation uses an EIP-7702 account that is not the sender, or two delegates compete.',
    'In validation, call contracts only, not delegated accounts of others.',
  ),
  EREP: app(
    'An entity does what only staked entities may do, or behaved differently from its validation in gas or context.',
    STAKE,
    'Let the paymaster return no context, or the same one each time.',
  ),
  SREP: app(
    'A staked entity broke a rule for which its stake is liable.',
    'Use another entity until its reputation has recovered.',
  ),
  GREP: app(
    'An entity is throttled or banned, because its operations failed after they were admitted.',
    'Wait: the counts decay by 1/24 every hour.',
    'Find out why its earlier operations were dropped, and fix the cause first.',
  ),
  UREP: app(
    'An entity without stake has as many pending operations as it may have.',
    'Wait until some are included.',
    STAKE,
  ),
  LIM: app(
    'A field or a limit of the operation exceeds what bundlers accept.',
    'Stay within the number in the message.',
    'Use the limits of an estimate.',
  ),
} satisfies Table
