import type { HostileRequest } from './hostileBodies.js'
import type { Json } from './jsonRpc.js'
import type { HostileAnswer } from './sendHostile.js'

const deciding = new Set([
  'pm_sponsorUserOperation',
  'pm_getFeeQuoteOrData',
  'pm_getPaymasterData',
  'zd_sponsorUserOperation',
  'alchemy_requestGasAndPaymasterAndData',
])

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function listOf(value: Json): Json[] {
  return Array.isArray(value) ? value : [value]
}

/** A result, or what is wrong with the operation itself; an error of form decides nothing. */
function isDecided({ result, error }: Json): boolean {
  return result !== undefined || (error?.code <= -32_500 && error?.code > -32_600)
}

/**
 * How many decisions on sponsorship a request may have left at most: one per sponsorship call that
 * was answered with one, and one per such call that asked for no answer.
 */
export function possibleDecisions({ body }: HostileRequest, { text }: HostileAnswer): number {
  const calls = listOf(parsed(Buffer.from(body).toString()))
  const answers = listOf(parsed(text))
  const isSilent = (call: Json) => typeof call?.method === 'string' && !('id' in call)
  // A batch is answered in order; one that is refused whole has one answer.
  const heard = calls.filter((call) => !isSilent(call))
  const answered = heard.filter(
    (call, index) => deciding.has(call?.method) && answers[index] && isDecided(answers[index]),
  )
  const silent = calls.filter((call) => isSilent(call) && deciding.has(call.method))
  return answered.length + silent.length
}
