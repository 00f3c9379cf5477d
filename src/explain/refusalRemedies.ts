import type { RefusalCode, TokenRefusalCode } from '../errors/refusal.js'
import type { Remedy } from './explanation.js'

function app(...steps: string[]): Remedy {
  return { culprit: 'app', steps }
}

function user(...steps: string[]): Remedy {
  return { culprit: 'user', steps }
}

function operator(...steps: string[]): Remedy {
  return { culprit: 'operator', steps }
}

const EDIT_POLICY = 'Change the policy if the operation should be paid for.'
const DEPOSIT = 'Deposit with `purser tank deposit`.'

/** Refused sponsorships and payments in tokens. */
export const refusalRemedies: Readonly<Record<RefusalCode | TokenRefusalCode, Remedy>> = {
  NO_TANK: app(
    'Make a tank for the app, the chain and the EntryPoint: `purser tank create`, or the screen Tanks of the console.',
  ),
  TANK_NOT_DEPLOYED: app('Deposit for the tank: the first deposit deploys it.'),
  TANK_SIGNER_LOST: operator(
    'Bring the master key back with which the tank was made.',
    'Without it, withdraw the deposit as its owner and make a new tank: `purser tank replace`.',
  ),
  TANK_EMPTY: app(DEPOSIT, 'Wait until sponsored operations are included or expire.'),
  CREDIT_EMPTY: operator('Add credit for the app: `purser tank credit`.'),
  TOO_MUCH_UNSENT: app(
    'Send the operations that are sponsored already, or wait until their sponsorships end.',
    'Ask for the sponsorship when the operation is about to be sent, not for many ahead.',
  ),
  FEE_TOO_HIGH: app('Take the fees that the service advises.'),
  GAS_TOO_HIGH: app('Take the gas limits of an estimate.'),
  GAS_TOO_LOW: app('Estimate with the stub, and let the account sign those limits.'),
  COMMITMENT_CHANGED: app('Take the paymaster data from the stub with signingPhase "commit".'),
  COMMITMENT_EXPIRED: app('Ask for a new stub, and let the account sign again.'),
  WEBHOOK_DENIED: app(
    'Read the reason in the message: it comes from the service behind the webhook.',
    'Compare the `webhookData` of the request with what that service expects.',
  ),
  WEBHOOK_FAILED: app(
    'Read `webhookCalls` of the decision: each call has its outcome, HTTP status, time and reason.',
    'For `timeout`: answer sooner, or raise `deadlineMs` of the webhook (5,000 at most).',
    'For `circuit_open`: it failed five times in a row and is asked again after ten seconds; mend it first.',
    'Try it with POST /admin/v1/apps/APP/webhooks/WEBHOOK/test; `onFailure: approve` sponsors while it is away.',
  ),
  NO_ACTIVE_WEBHOOK: app('Register a webhook, or switch one on.'),
  NONCE_USED: app('Use the next nonce of the account.'),
  POLICY_INACTIVE: app('Switch the policy on.'),
  POLICY_NOT_IN_FORCE: app('Change the times of the policy.'),
  CHAIN_NOT_COVERED: app('Add the chain to the policy.'),
  SENDER_NOT_ALLOWED: app('Add the sender to the policy, or take it off the denied ones.'),
  NOT_A_DEPLOYMENT: app(
    'The policy pays for first operations only: let the sender pay, or change it.',
  ),
  FACTORY_NOT_ALLOWED: app('Add the factory to the policy.'),
  CALL_DATA_UNKNOWN: app(
    'Use an account whose calls can be read, or allow unknown call data.',
    EDIT_POLICY,
  ),
  DELEGATE_CALL_NOT_ALLOWED: app(EDIT_POLICY),
  NESTED_CALL_NOT_ALLOWED: app(EDIT_POLICY),
  CALL_NOT_ALLOWED: app('Add target and function to the policy; the message names them.'),
  PRICE_UNAVAILABLE: operator(
    'Configure a price of the native coin (nativePrices), or mend its source.',
  ),
  BUDGET_EXCEEDED: app(
    'Wait until the window of the budget ends, which the message names; a rolling one gives room back bit by bit.',
    'Raise the limit in the policy (PATCH /admin/v1/policies/POLICY), if the operation should be paid for.',
    'Let the sender pay for this one: send it without a paymaster, and with native coin in the account.',
  ),
  NO_TOKEN_TANK: operator(
    'Make a token tank for this EntryPoint: `purser tank create --kind token`.',
  ),
  TOKEN_TANK_EMPTY: operator(DEPOSIT),
  TOKEN_BALANCE_TOO_LOW: user('Get more of the token, or pay in another way.'),
  TOKEN_ALLOWANCE_TOO_LOW: app("Approve the tank in the operation's calls, or send a permit."),
  TOKEN_NOT_EXACT: operator('Take the token off the list: it keeps a part of transfers.'),
  TOKEN_EXPOSURE_REACHED: operator('Raise the limit of open quotes, or wait until some end.'),
  SENDER_STRUCK: user('Pay in native coin, or with an allowance that the tank may take first.'),
  CHARGE_FAILS: user('Leave enough tokens in the account to pay for the gas after the call.'),
  ADVANCE_REACHED: user(
    'Approve the tank first, so that it can take the tokens before the operation.',
    'Wait until open operations are included.',
  ),
  TERMS_REFUSED: app('Take fees and limits of an estimate.'),
}
