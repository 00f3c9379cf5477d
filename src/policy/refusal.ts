/** Stable codes of decisions, for machines. */
export type RefusalCode =
  | 'NO_TANK'
  | 'TANK_NOT_DEPLOYED'
  | 'TANK_EMPTY'
  | 'FEE_TOO_HIGH'
  | 'GAS_TOO_HIGH'
  | 'WEBHOOK_DENIED'
  | 'WEBHOOK_FAILED'

/** Why a sponsorship is not given; `message` holds the numbers. */
export type Refusal = { readonly code: RefusalCode; readonly message: string }
