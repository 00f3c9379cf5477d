import type { Address } from 'viem'
import { PurserError } from './purserError.js'

/**
 * The paymaster will not pay, told as an error because ERC-7677 has no other way.
 * The message is the decision's sentence, `data.code` its stable code. There is no
 * decision id when nothing was decided, as for a stub.
 */
export class SponsorshipRefusedError extends PurserError {
  override readonly name = 'SponsorshipRefusedError'
  constructor(decision: { decisionId?: string; code: string; message: string }) {
    super(decision.message, {
      code: -32501,
      status: 400,
      data: {
        code: decision.code,
        ...(decision.decisionId && { decisionId: decision.decisionId }),
      },
    })
  }
}

/** Mode ERC20 on a chain that takes none of the wanted tokens. No tokens = any was welcome. */
export class UnsupportedTokenError extends PurserError {
  override readonly name = 'UnsupportedTokenError'
  constructor(tokens: readonly Address[], chainId: number) {
    const subject =
      tokens.length === 0
        ? 'Mode ERC20 is not available'
        : `Fee token ${tokens.join(', ')} is not supported`
    super(
      `${subject}: no token is configured on chain ${chainId}. Use mode SPONSORED or pay gas in the native currency.`,
      { code: -32602, status: 400, data: { tokens } },
    )
  }
}
