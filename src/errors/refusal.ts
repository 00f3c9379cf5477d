/*
 * The vocabulary by which the paymaster says no. Every code is stable: clients branch on it. What a
 * thrown error says beside it stands in the other files of this room.
 */

/** A code of a sponsorship that is refused, stored with the decision and shown to its client. */
export type RefusalCode =
  // The payer: the app's tank, the shared tank or the app's credit.
  | 'NO_TANK'
  | 'TANK_NOT_DEPLOYED'
  | 'TANK_EMPTY'
  | 'CREDIT_EMPTY'
  // The bounds of the operator, whatever the policies say; FEE_TOO_HIGH also by a policy's own bound.
  | 'FEE_TOO_HIGH'
  | 'GAS_TOO_HIGH'
  // The promise that an account signs before its paymaster (EntryPoint v0.9).
  | 'GAS_TOO_LOW'
  | 'COMMITMENT_CHANGED'
  | 'COMMITMENT_EXPIRED'
  // The webhooks of the app.
  | 'WEBHOOK_DENIED'
  | 'WEBHOOK_FAILED'
  | 'NO_ACTIVE_WEBHOOK'
  // The ledger.
  | 'NONCE_USED'
  | 'BUDGET_EXCEEDED'
  // The policies of the account and of the app.
  | 'POLICY_INACTIVE'
  | 'POLICY_NOT_IN_FORCE'
  | 'CHAIN_NOT_COVERED'
  | 'SENDER_NOT_ALLOWED'
  | 'NOT_A_DEPLOYMENT'
  | 'CALL_DATA_UNKNOWN'
  | 'DELEGATE_CALL_NOT_ALLOWED'
  | 'NESTED_CALL_NOT_ALLOWED'
  | 'CALL_NOT_ALLOWED'
  | 'PRICE_UNAVAILABLE'

/** A refused sponsorship: data, not an error. `message` holds the numbers and says what to do. */
export type Refusal = { readonly code: RefusalCode; readonly message: string }

/** A code of a token payment that is refused (TokenPaymentError); its refusals are thrown. */
export type TokenRefusalCode =
  | 'NO_TOKEN_TANK'
  | 'TOKEN_TANK_EMPTY'
  | 'TOKEN_BALANCE_TOO_LOW'
  | 'TOKEN_ALLOWANCE_TOO_LOW'
  | 'TOKEN_NOT_EXACT'
  | 'TOKEN_EXPOSURE_REACHED'
  | 'SENDER_STRUCK'
  | 'CHARGE_FAILS'
  | 'TERMS_REFUSED'
