import { PurserError } from './purserError.js'

/**
 * The paymaster does not pay; an error, because ERC-7677 has no other form for a refusal. The
 * message is the decision's sentence, `data.code` its stable code. There is no decision id when
 * nothing was recorded, as for a stub.
 */
export class SponsorshipRefusedError extends PurserError {
  override readonly name = 'SponsorshipRefusedError'
  constructor(decision: { decisionId?: string; code: string; message: string }) {
    super(decision.message, {
      code: -32501,
      status: 400,
      rule: decision.code,
      data: {
        code: decision.code,
        ...(decision.decisionId && { decisionId: decision.decisionId }),
      },
    })
  }
}
