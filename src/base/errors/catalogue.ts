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
const OPERATORS_BUG = 'It is the bundler that made this call: report it to the operator.'
const READ_MESSAGE = 'The message says which part and why.'
const EDIT_POLICY = 'Change the policy if the operation should be paid for.'
const DEPOSIT = 'Deposit with `purser tank deposit`.'
const STAKE = 'Stake the entity in the EntryPoint where the message names a minimum.'
const RETRY = 'Send the same request again after the seconds of retry-after.'
const TAKE_FEES = 'Take the fees that the service advises (biconomy_getGasFeeValues).'
const OTHER_NONCE = 'For another operation, use the next nonce or another nonce key.'

/**
 * The JSON-RPC codes that Purser answers. ERC-7769 names those from -32500 to -32508, JSON-RPC those from
 * -32600 on; the others are customs of bundlers and nodes.
 */
export const errorCodes = {
  3: app('The call of a read reverts.', 'Decode the revert data in error.data.'),
  4: app(
    'The operation had not come as far as was asked for when the time was over; it goes on.',
    'Ask for its receipt with the hash in error.data, or send the same request again: it goes on waiting.',
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
    'A parameter is missing, malformed or outside of what is allowed.',
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
    'An entity without stake has as many pending operations as it may.',
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
    'The credential is unknown, or may not be used like this.',
    'Use a key that exists and may call this method from this place.',
  ),
  [-32004]: app('There is no such thing.', 'Check the id and the app of the key.'),
  [-32005]: operator(
    'The service is busy, a limit is reached, or a part that it needs is unavailable; try again.',
    'Try again after the seconds of retry-after.',
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
    'Compare the key with that of the app: a copied key often lacks its end.',
    'Make a new key with `purser key create`: a revoked or rotated one does not come back.',
    'Check the URL: /api/v3/CHAIN/KEY, or the key in `authorization: Bearer KEY` or `x-api-key`.',
  ),
  KEY_RESTRICTED: app(
    'The API key may not be used from this place, or not for this method.',
    'Allow the origin, the address or the method for the key, or use another key.',
  ),
  CHAIN_NOT_SERVED: app(
    'The service does not serve the chain that the URL names.',
    'Put the id of a served chain into the URL: the message lists them.',
    'Compare the chain of the wallet or client with that of the URL.',
    'Ask the operator to add the chain, if it is meant.',
  ),
  ENTRY_POINT_NOT_SERVED: app(
    'The service does not serve this EntryPoint on this chain.',
    'Use an EntryPoint that the message lists, in the version for which the account is made.',
    'Compare the chain of the URL with that on which the EntryPoint is deployed.',
  ),
  NODE_UNAVAILABLE: operator(
    'The service has no usable node of the chain now. The operation was not judged, stored or sent.',
    'Send the same request again after the seconds of retry-after: the signature stays good.',
    'Where it lasts, the operator looks at /admin/v1/chains/CHAIN/nodes, /health/ready and `purser check`.',
  ),
  OVERLOADED: operator('The service admits as many operations as it can at this moment.', RETRY),
  POOL_FULL: app(
    'The pool of pending operations is full.',
    'Wait until pending operations are included, then send the same one again.',
    'Where the message names a price, sign again with fees that reach it.',
  ),
  CANNOT_SIMULATE: app(
    'The operation cannot be run in advance, so it cannot be judged.',
    'Make the operation do less work, or use an account that validates with less.',
    'Where the message names the rules, the operator can allow such operations with "rules": "partial".',
  ),
  PRE_VERIFICATION_GAS_TOO_LOW: app(
    'preVerificationGas does not pay for the share of its bundle that the operation causes.',
    'Take preVerificationGas of eth_estimateUserOperationGas, or at least the number in the message, and sign again.',
    'Estimate with a signature and paymaster data as long as the final ones.',
  ),
  REPLACEMENT_UNDERPRICED: app(
    'An operation of the same sender and nonce is pending, and the fees of this one are not 10 % higher.',
    'Follow the pending operation, whose hash is in the message, if it does the same.',
    'To replace it, sign again with both fees at least as high as the message says.',
    OTHER_NONCE,
  ),
  ALREADY_BUNDLED: app(
    'An operation of the same sender and nonce is in a signed bundle already.',
    'Wait for the receipt of the operation in the message; it can no longer be replaced.',
    OTHER_NONCE,
  ),
} satisfies Table

/** The code of a refused request, in `error.data.rule`. */
export type RequestCode = keyof typeof requestCodes

/** Refused sponsorships. Every code is stable: it is stored with the decision, and clients branch on it. */
export const refusalCodes = {
  NO_TANK: app(
    'There is no tank, or no paymaster, for this app and EntryPoint.',
    'Make a tank for the app, the chain and the EntryPoint: `purser tank create`, or the screen Tanks of the console.',
  ),
  TANK_NOT_DEPLOYED: app(
    "The app's tank is not deployed on the chain yet.",
    'Deposit for the tank: the first deposit deploys it.',
  ),
  TANK_SIGNER_LOST: operator(
    "The operator's master key does not decrypt the key of the tank's signer.",
    'Bring the master key back with which the tank was made.',
    'Without it, withdraw the deposit as its owner and make a new tank: `purser tank replace`.',
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
    'The sender, or all new senders of the app, hold too many sponsorships that they have not sent.',
    'Send the operations that are sponsored already, or wait until their sponsorships end.',
    'Ask for the sponsorship when the operation is about to be sent, not for many ahead.',
  ),
  FEE_TOO_HIGH: app(
    'The operation offers more per gas than may be sponsored.',
    'Take the fees that the service advises.',
  ),
  GAS_TOO_HIGH: app(
    'The operation asks for more gas than it needs.',
    'Take the gas limits of an estimate.',
  ),
  GAS_TOO_LOW: app(
    'A limit of a committed operation is below its estimate, and its account has signed it.',
    'Estimate with the stub, and let the account sign those limits.',
  ),
  COMMITMENT_CHANGED: app(
    'The operation is not the one that was committed to.',
    'Take the paymaster data from the stub with signingPhase "commit".',
  ),
  COMMITMENT_EXPIRED: app(
    'The committed operation names an end of its sponsorship that is out of range.',
    'Ask for a new stub, and let the account sign again.',
  ),
  WEBHOOK_DENIED: app(
    'A webhook of the app denied the sponsorship.',
    'Read the reason in the message: it comes from the service behind the webhook.',
    'Compare the `webhookData` of the request with what that service expects.',
  ),
  WEBHOOK_FAILED: app(
    'A webhook of the app gave no usable answer.',
    'Read `webhookCalls` of the decision: each call has its outcome, HTTP status, time and reason.',
    'For `timeout`: answer sooner, or raise `deadlineMs` of the webhook (5,000 at most).',
    'For `circuit_open`: it failed five times in a row and is asked again after ten seconds; fix it first.',
    'Try it with POST /admin/v1/apps/APP/webhooks/WEBHOOK/test; `onFailure: approve` sponsors while it is unavailable.',
  ),
  NO_ACTIVE_WEBHOOK: app(
    'The policy needs the approval of a webhook, and the app has no active one.',
    'Register a webhook, or switch one on.',
  ),
  NONCE_USED: app(
    'An operation of this sender and nonce was sponsored and included.',
    'Use the next nonce of the account.',
  ),
  POLICY_INACTIVE: app('The policy is switched off.', 'Switch the policy on.'),
  POLICY_NOT_IN_FORCE: app(
    'The policy begins later or has ended.',
    'Change the times of the policy.',
  ),
  CHAIN_NOT_COVERED: app('The policy does not cover the chain.', 'Add the chain to the policy.'),
  SENDER_NOT_ALLOWED: app(
    'The policy denies the sender, or does not list it.',
    'Add the sender to the policy, or take it off the denied ones.',
  ),
  NOT_A_DEPLOYMENT: app(
    'The policy sponsors operations only that deploy their account.',
    'The policy pays for first operations only: let the sender pay, or change it.',
  ),
  FACTORY_NOT_ALLOWED: app(
    'The factory of the operation is none of those that the policy names.',
    'Add the factory to the policy.',
  ),
  CALL_DATA_UNKNOWN: app(
    'The policy restricts calls, and those of the operation cannot be read.',
    'Use an account whose calls can be read, or allow unknown call data.',
    EDIT_POLICY,
  ),
  DELEGATE_CALL_NOT_ALLOWED: app('The policy does not allow delegate calls.', EDIT_POLICY),
  NESTED_CALL_NOT_ALLOWED: app('The policy does not allow calls within calls.', EDIT_POLICY),
  CALL_NOT_ALLOWED: app(
    'The policy does not allow a call of the operation.',
    'Add target and function to the policy; the message names them.',
  ),
  PRICE_UNAVAILABLE: operator(
    'A budget in USD needs a price that is not known now.',
    'Configure a price of the native coin (nativePrices), or fix its source.',
  ),
  BUDGET_EXCEEDED: app(
    'A budget of the policy does not cover the operation.',
    'Wait until the window of the budget ends, which the message names; a rolling one frees its amount step by step.',
    'Raise the limit in the policy, if the operation should be paid for.',
    'Let the sender pay for this one: send it without a paymaster, and with native coin in the account.',
  ),
} satisfies Table

export type RefusalCode = keyof typeof refusalCodes

/** A refused sponsorship: data, not an error. `message` holds the numbers and says what to do. */
export type Refusal = { readonly code: RefusalCode; readonly message: string }

/** Refused payments in tokens (TokenPaymentError). */
export const tokenRefusalCodes = {
  NO_TOKEN_TANK: operator(
    'There is no token tank for this EntryPoint.',
    'Make a token tank for this EntryPoint: `purser tank create --kind token`.',
  ),
  TOKEN_TANK_EMPTY: operator(
    'The deposit of the token tank does not cover the operation.',
    DEPOSIT,
  ),
  TOKEN_BALANCE_TOO_LOW: user(
    'The sender has too few tokens.',
    'Get more of the token, or pay in another way.',
  ),
  TOKEN_ALLOWANCE_TOO_LOW: app(
    'The sender allows the tank too few of its tokens.',
    "Approve the tank in the operation's calls, or send a permit.",
  ),
  TOKEN_NOT_EXACT: operator(
    'The token does not move exactly what is transferred.',
    'Remove the token from the list: it keeps a part of each transfer.',
  ),
  TOKEN_EXPOSURE_REACHED: operator(
    'The open quotes of the token reach the limit of the operator.',
    'Raise the limit of open quotes, or wait until some end.',
  ),
  SENDER_STRUCK: user(
    'An earlier operation of the sender kept a tank from its charge.',
    'Pay in native coin, or with an allowance that the tank may take first.',
  ),
  ADVANCE_REACHED: user(
    'What tanks may pay before they get the tokens is reached.',
    'Approve the tank first, so that it can take the tokens before the operation.',
    'Wait until open operations are included.',
  ),
  CHARGE_FAILS: user(
    'The operation, run whole, did not leave the charge.',
    'Leave enough tokens in the account to pay for the gas after the call.',
  ),
  TERMS_REFUSED: app(
    'Fees or limits are far above the need.',
    'Take fees and limits of an estimate.',
  ),
} satisfies Table

export type TokenRefusalCode = keyof typeof tokenRefusalCodes

/** Codes of our own with which an operation leaves the pool without being included. */
export const dropCodes = {
  REPLACED: app(
    'An operation of the same sender and nonce with higher fees took its place.',
    'Follow the operation that replaced it.',
  ),
  EVICTED: app(
    'The pool was full and another operation offered more.',
    'Send it again with higher fees, or later.',
  ),
  PREDECESSOR_DROPPED: app(
    'The operation with the nonce before it was dropped; nothing of that key can go before it is sent again.',
    'Send the operation with the nonce before it again, then this one.',
  ),
  EXPIRED: app(
    'Its validity ended, or would end before a bundle with it is surely mined.',
    'Sign it again with a later end, or ask for a longer sponsorship.',
  ),
  WAITED_TOO_LONG: app(
    'No bundle took it for as long as operations may wait.',
    'Send it again with the fees that the service advises now.',
  ),
  TOO_COSTLY: app(
    'Validated again before its bundle, it took more work than an operation may.',
    'Make its validation do less work.',
  ),
  REVERTED: app(
    'handleOps reverts with it alone, and the EntryPoint gives no code.',
    'Simulate it: the EntryPoint reverts with it alone, without naming a reason.',
  ),
  BUNDLE_FAILED: app(
    'Bundles with it failed on the chain as often as may be.',
    'Simulate it: it passes in simulation and fails on the chain, so something it reads changes.',
  ),
  BUNDLE_NOT_SHARED: app(
    'Its preVerificationGas pays for a share of a bundle, and too few others came to share one.',
    'Send it again with the preVerificationGas of a new estimate.',
  ),
  STALE_AUTHORIZATION: app(
    "Its EIP-7702 authorization can no longer apply: the sender's account has used that nonce.",
    'Sign the authorization again with the nonce that the account has now.',
  ),
  CHARGE_FAILS: user(
    'Run again before its bundle, it left no tokens for its gas.',
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

/** What happened to operations that are still on their way, or were included. */
export const historyCodes = {
  RETURNED: operator(
    'Its bundle was not mined, for no fault of the operation: it waits for another one.',
    'Do nothing: it is bundled again. Do not send it with another nonce.',
  ),
  SUSPECTED: app(
    'Its bundle failed on the chain. The operation may be the reason, so it goes into another one and is dropped when that repeats.',
    'Wait: it is tried again by itself.',
    'Simulate it: something that it reads may change between validation and block.',
  ),
  REORGED: chain(
    'The block that had included it left the chain. The operation is sent again by itself, and an earlier receipt of it no longer holds.',
    'Do nothing to the operation: it is included again, or dropped with a code of its own.',
    'Read the receipt again before you act on it: block and transaction can be others.',
    'For what cannot be taken back, wait until the block of the receipt is final.',
  ),
  CALL_REVERTED: app(
    'It was included and its call reverted: the gas is paid, the nonce is used, and nothing else of the call remains.',
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
    'The account exists already, and the operation would deploy it.',
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
    'There is no code at the sender, and the operation deploys none.',
    'Send factory and factoryData with the first operation of an account.',
    'Check that the operation goes to the chain on which the account was deployed.',
    'For an EIP-7702 account, send eip7702Auth with the nonce that the account has now.',
  ),
  AA21: user(
    'Nobody pays: the sender has less than the most that the operation may cost.',
    'Give the account native coin, or deposit for it in the EntryPoint.',
    'Ask a paymaster to pay before the account signs (pm_getPaymasterData, pm_sponsorUserOperation).',
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
    'Sign after the last field has its value: a paymaster or limits that came later change the hash.',
    'Sign for this chain id, this EntryPoint and this EntryPoint version.',
    'Sign with a key that the account knows, in the form that the account reads.',
  ),
  AA25: app(
    'The nonce is used already, or is ahead of the next one of its key.',
    'Read the next nonce from the EntryPoint: getNonce(sender, key).',
    'Wait for the operation before, or use another nonce key for operations that may overtake.',
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
    "The paymaster's deposit is below the most that the operation may cost.",
    'Deposit for the paymaster, for a tank with `purser tank deposit`.',
  ),
  AA32: app(
    "The paymaster's signature is outside of its time range.",
    'Ask for the sponsorship just before the account signs, or for a longer one (expiryDuration).',
  ),
  AA33: app(
    "The paymaster's validation reverted or ran out of gas.",
    'Read the decoded reason behind the code: it comes from the paymaster.',
    'For payment in tokens, check balance and allowance of the sender.',
    'Raise paymasterVerificationGasLimit (v0.6: verificationGasLimit) where there is no reason.',
  ),
  AA34: app(
    "The paymaster's signature does not fit the operation.",
    'Send exactly what was sponsored: limits and fees that change afterwards make it void.',
    'Take over all fields of the answer that sponsored it, also the limits.',
  ),
  AA36: app(
    "The paymaster's validation needs more gas than paymasterVerificationGasLimit.",
    'Take over paymasterVerificationGasLimit of the answer that sponsored the operation.',
  ),
  AA37: app(
    "The paymaster's signature is outside of its range of block numbers.",
    'Ask for the sponsorship again.',
  ),
  AA40: app('Validation used more gas than verificationGasLimit (v0.6).', ESTIMATE_AGAIN),
  AA41: app("verificationGasLimit leaves no gas for the paymaster's part (v0.6).", ESTIMATE_AGAIN),
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
    'Name a beneficiary that takes native coin, such as an account without code.',
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
  AA96: operator('A bundle named an aggregator that may not be one.', OPERATORS_BUG),
  AA97: app(
    'The SenderCreator was called by someone else than its EntryPoint.',
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
    'Validation runs an opcode, a call or a creation that could differ in the bundle.',
    'Leave that opcode out of validation: time, block and gas may be read by the call instead.',
    'Use an account, factory or paymaster that keeps to ERC-7562; docs/understand/validation.md lists each rule.',
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
    'Let validation call contracts only, no delegated accounts of others.',
  ),
  EREP: app(
    'An entity does what only staked entities may do, or broke its word on gas or context.',
    STAKE,
    'Let the paymaster return no context, or an equal one each time.',
  ),
  SREP: app(
    'A staked entity did what stakes answer for.',
    'Use another entity until its reputation has recovered.',
  ),
  GREP: app(
    'An entity is throttled or banned, because its operations failed after they were admitted.',
    'Wait: the counts halve every hour or so.',
    'Find out why its earlier operations were dropped, and fix that first.',
  ),
  UREP: app(
    'An entity without stake has as many pending operations as it may have.',
    'Wait until some are included.',
    STAKE,
  ),
  LIM: app(
    'A field or a limit of the operation is beyond what bundlers accept.',
    'Stay within the number in the message.',
    'Take the limits of an estimate.',
  ),
} satisfies Table
