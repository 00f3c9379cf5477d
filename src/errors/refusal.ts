/*
 * The vocabulary by which the paymaster says no. Every code is stable: clients branch on it. What a
 * thrown error says beside it stands in the other files of this room.
 */

/** Codes with which a sponsorship is refused, each with its meaning. */
export const refusalCodes = {
  NO_TANK: 'There is no tank, or no paymaster, for this app and EntryPoint.',
  TANK_NOT_DEPLOYED: "The app's tank is not deployed on the chain yet.",
  TANK_SIGNER_LOST: "The operator's master key does not decrypt the key of the tank's signer.",
  TANK_EMPTY: 'The deposit of the tank does not cover the operation beside what is reserved.',
  CREDIT_EMPTY: 'The credit of the app does not cover the operation.',
  TOO_MUCH_UNSENT:
    'The sender, or all new senders of the app, hold too many sponsorships that they have not sent.',
  FEE_TOO_HIGH: 'The operation offers more per gas than may be sponsored.',
  GAS_TOO_HIGH: 'The operation asks for more gas than it needs.',
  GAS_TOO_LOW:
    'A limit of a committed operation is below its estimate, and its account has signed it.',
  COMMITMENT_CHANGED: 'The operation is not the one that was committed to.',
  COMMITMENT_EXPIRED:
    'The committed operation names an end of its sponsorship that is out of range.',
  WEBHOOK_DENIED: 'A webhook of the app denied the sponsorship.',
  WEBHOOK_FAILED: 'A webhook of the app gave no usable answer.',
  NO_ACTIVE_WEBHOOK: 'The policy needs the approval of a webhook, and the app has no active one.',
  NONCE_USED: 'An operation of this sender and nonce was sponsored and included.',
  POLICY_INACTIVE: 'The policy is switched off.',
  POLICY_NOT_IN_FORCE: 'The policy begins later or has ended.',
  CHAIN_NOT_COVERED: 'The policy does not cover the chain.',
  SENDER_NOT_ALLOWED: 'The policy denies the sender, or does not list it.',
  NOT_A_DEPLOYMENT: 'The policy sponsors operations only that deploy their account.',
  FACTORY_NOT_ALLOWED: 'The factory of the operation is none of those that the policy names.',
  CALL_DATA_UNKNOWN: 'The policy restricts calls, and those of the operation cannot be read.',
  DELEGATE_CALL_NOT_ALLOWED: 'The policy does not allow delegate calls.',
  NESTED_CALL_NOT_ALLOWED: 'The policy does not allow calls within calls.',
  CALL_NOT_ALLOWED: 'The policy does not allow a call of the operation.',
  PRICE_UNAVAILABLE: 'A budget in USD needs a price that is not known now.',
  BUDGET_EXCEEDED: 'A budget of the policy does not cover the operation.',
} as const

/** A code of a sponsorship that is refused, stored with the decision and shown to its client. */
export type RefusalCode = keyof typeof refusalCodes

/** A refused sponsorship: data, not an error. `message` holds the numbers and says what to do. */
export type Refusal = { readonly code: RefusalCode; readonly message: string }

/** Codes with which a token payment is refused, each with its meaning. */
export const tokenRefusalCodes = {
  NO_TOKEN_TANK: 'There is no token tank for this EntryPoint.',
  TOKEN_TANK_EMPTY: 'The deposit of the token tank does not cover the operation.',
  TOKEN_BALANCE_TOO_LOW: 'The sender has too few tokens.',
  TOKEN_ALLOWANCE_TOO_LOW: 'The sender allows the tank too few of its tokens.',
  TOKEN_NOT_EXACT: 'The token does not move exactly what is transferred.',
  TOKEN_EXPOSURE_REACHED: 'The open quotes of the token reach the limit of the operator.',
  SENDER_STRUCK: 'An earlier operation of the sender kept a tank from its charge.',
  ADVANCE_REACHED: 'What tanks may pay before they get the tokens is reached.',
  CHARGE_FAILS: 'The operation, run whole, did not leave the charge.',
  TERMS_REFUSED: 'Fees or limits are far above the need.',
} as const

/** A code of a token payment that is refused (TokenPaymentError); its refusals are thrown. */
export type TokenRefusalCode = keyof typeof tokenRefusalCodes
