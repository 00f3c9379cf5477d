/** Stable codes of decisions, for machines. */
export type RefusalCode =
  | 'NO_TANK'
  | 'TANK_NOT_DEPLOYED'
  | 'TANK_EMPTY'
  | 'CREDIT_EMPTY'
  | 'FEE_TOO_HIGH'
  | 'GAS_TOO_HIGH'
  | 'GAS_TOO_LOW'
  | 'COMMITMENT_CHANGED'
  | 'COMMITMENT_EXPIRED'
  | 'WEBHOOK_DENIED'
  | 'WEBHOOK_FAILED'
  | 'NO_ACTIVE_WEBHOOK'
  | 'NONCE_USED'
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
  | 'BUDGET_EXCEEDED'

/** Why a sponsorship is not given; `message` holds the numbers. */
export type Refusal = { readonly code: RefusalCode; readonly message: string }
